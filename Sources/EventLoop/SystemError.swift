import Glibc

/// A system call's refusal: which call, and its `errno`.
public struct SystemError: Error, CustomStringConvertible {
  /// The system call or library function.
  public let call: String
  /// The value of `errno` it left.
  public let code: Int32

  /// The refusal of `call` with `code`.
  public init(call: String, code: Int32) {
    self.call = call
    self.code = code
  }

  /// The call and the system's words for the code.
  public var description: String { "\(call): \(String(cString: strerror(code)))" }

  /// Returns `result`, or throws where it is -1.
  public static func check(_ result: Int32, _ call: String) throws(SystemError) -> Int32 {
    guard result != -1 else { throw SystemError(call: call, code: errno) }
    return result
  }
}
