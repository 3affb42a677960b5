import JSON
import Postgres
import Projections
import Settings

extension ProjectionVerb.Call {
  /// The projection of that name.
  func projection() throws -> any Projection.Type {
    guard let projection = ReadModels.named(name) else {
      throw UsageError("there is no projection '\(name)'; see jejak projection list")
    }
    return projection
  }

  func connection() throws -> BlockingConnection {
    try BlockingConnection(target: target, applicationName: "jejak projection")
  }

  /// The option's whole number, from 1 to `limit`; nil where it was not given.
  func number(_ option: String, atMost limit: Int32) throws -> Int32? {
    try arguments.number(option, atMost: limit)
  }
}

extension CommandArguments {
  /// The option's whole number, from 1 to `limit`; nil where it was not given.
  func number(_ option: String, atMost limit: Int32) throws -> Int32? {
    guard let text = self[option] else { return nil }
    guard let number = Int32(text), (1...limit).contains(number) else {
      throw UsageError("--\(option) takes a whole number from 1 to \(limit), not '\(text)'")
    }
    return number
  }
}

extension Output {
  /// A JSON value and the end of its line.
  static func write(_ json: JSON) { write(String(decoding: json.bytes, as: UTF8.self) + "\n") }
}
