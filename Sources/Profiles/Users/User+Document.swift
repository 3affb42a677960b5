internal import JSON

/// Why a stored document can't be read: the row is corrupt, or a newer release wrote it.
public struct DocumentError: Error, Hashable, Sendable {
  /// The member that is missing, unknown or of another type; nil where it is no JSON object.
  public let member: String?
}

extension User {
  /// The response document but for version and times, open at its end.
  ///
  /// The gateway appends `,"version":3,"createdAt":"…","updatedAt":"…"}`. Equal users have equal
  /// bytes, but for the notation of equal numbers.
  public var document: [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(512)
    output += "{\"id\":\"".utf8
    output += id.description.utf8
    output += "\",\"email\":".utf8
    JSON.write(email.text, into: &output)
    output += (emailVerified ? ",\"emailVerified\":true" : ",\"emailVerified\":false").utf8
    output += ",\"firstName\":".utf8
    firstName.json.write(into: &output)
    output += ",\"lastName\":".utf8
    lastName.json.write(into: &output)
    output += ",\"attributes\":".utf8
    attributes.write(into: &output)
    output += ",\"status\":\"".utf8
    output += status.name.utf8
    output += "\"".utf8
    return output
  }

  /// The user whose `document` was stored beside these versions.
  public init(
    document: UnsafeRawBufferPointer,
    version: Version,
    accessVersion: Version
  ) throws(DocumentError) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(document.count + 1)
    bytes.append(contentsOf: document)
    bytes.append(UInt8(ascii: "}"))
    guard case .object(let members)? = try? JSON.parse(bytes) else {
      throw DocumentError(member: nil)
    }
    var reader = DocumentReader(members)
    id = try reader.next("id") { $0.string.flatMap(UserID.init(_:)) }
    email = try reader.next("email") { $0.string.map(EmailAddress.init(stored:)) }
    emailVerified = try reader.next("emailVerified") { $0.bool }
    firstName = try reader.next("firstName") { PersonName?.stored($0) }
    lastName = try reader.next("lastName") { PersonName?.stored($0) }
    attributes = try reader.next("attributes") { $0.object }
    status = try reader.next("status") { $0.string.flatMap(Status.init(name:)) }
    self.version = version
    self.accessVersion = accessVersion
  }

  /// The user whose `document` was stored beside these versions.
  public init(
    document: [UInt8],
    version: Version,
    accessVersion: Version
  ) throws(DocumentError) {
    // `withUnsafeBytes` is not declared with a typed error; a result carries ours out.
    let result: Result<User, DocumentError> = document.withUnsafeBytes { buffer in
      do throws(DocumentError) {
        return .success(
          try User(document: buffer, version: version, accessVersion: accessVersion)
        )
      } catch {
        return .failure(error)
      }
    }
    self = try result.get()
  }
}

/// The members of a document in the order in which `User.document` writes them.
private struct DocumentReader {
  private let members: JSONObject
  private var index = 0

  init(_ members: JSONObject) {
    self.members = members
  }

  mutating func next<Value>(
    _ name: String,
    _ convert: (JSON) -> Value?
  ) throws(DocumentError) -> Value {
    guard index < members.count, members[index].key == name,
      let value = convert(members[index].value)
    else { throw DocumentError(member: name) }
    index += 1
    return value
  }
}

extension PersonName? {
  /// The name or null.
  var json: JSON { map { .string($0.text) } ?? .null }

  /// The name in stored JSON; the outer nil where it is neither a string nor null.
  static func stored(_ json: JSON) -> PersonName?? {
    switch json {
    case .string(let text): .some(PersonName(stored: text))
    case .null: .some(nil)
    default: nil
    }
  }
}
