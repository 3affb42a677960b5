import JSON
import Profiles
import Projections

/// The body of `POST …/rebuilds`: everything is optional, the body too.
struct RebuildRequest {
  let options: RebuildOptions

  /// Whether the body of `POST …/resume` accepts differences, the one thing that it may say.
  static func acceptsDifferences(_ body: JSON) throws(Problem) -> Bool {
    try RebuildRequest(body, known: ["acceptDifferences"]).options.acceptsDifferences
  }

  init(
    _ body: JSON,
    known: [String] = ["workers", "throttle", "dryRun", "acceptDifferences"]
  ) throws(Problem) {
    guard case .object(let members) = body else {
      throw .invalid([FieldError(.wrongType, at: .root, "This is an object.")])
    }
    var options = RebuildOptions()
    var errors: [FieldError] = []
    func number(_ member: JSONObject.Member, atMost limit: Int32) -> Int32? {
      let pointer = JSONPointer([member.key])
      guard let value = member.value.integer else {
        errors.append(FieldError(.wrongType, at: pointer, "This is a whole number."))
        return nil
      }
      guard (1...Int64(limit)).contains(value) else {
        errors.append(FieldError(.outOfRange, at: pointer, "This is from 1 to \(limit)."))
        return nil
      }
      return Int32(value)
    }
    func choice(_ member: JSONObject.Member) -> Bool {
      guard let value = member.value.bool else {
        let pointer = JSONPointer([member.key])
        errors.append(FieldError(.wrongType, at: pointer, "This is true or false."))
        return false
      }
      return value
    }
    for member in members {
      switch known.contains(member.key) ? member.key : "" {
      case "workers": options.workers = number(member, atMost: RebuildOptions.workerLimit)
      case "throttle": options.throttle = number(member, atMost: RebuildOptions.throttleLimit)
      case "dryRun": options.isDryRun = choice(member)
      case "acceptDifferences": options.acceptsDifferences = choice(member)
      default:
        let pointer = JSONPointer([member.key])
        errors.append(FieldError(.unknownField, at: pointer, "There is no such field."))
      }
    }
    guard errors.isEmpty else {
      throw .invalid(Array(errors.prefix(FieldError.maximumCount)))
    }
    options.isInService = true
    self.options = options
  }
}
