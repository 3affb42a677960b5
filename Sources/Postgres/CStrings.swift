import Glibc

/// Calls `body` with the strings as a null-terminated array of C strings.
func withCStrings<Result>(
  _ strings: [String],
  _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
  let copies: [UnsafePointer<CChar>?] = strings.map { UnsafePointer(strdup($0)) } + [nil]
  defer { for copy in copies { free(UnsafeMutableRawPointer(mutating: copy)) } }
  return copies.withUnsafeBufferPointer { buffer in
    // The array always ends in a nil, so it is never empty and has an address.
    body(buffer.baseAddress.unsafelyUnwrapped)
  }
}
