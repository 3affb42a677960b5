import Projections

extension RebuildText {
  /// How an open rebuild stands, in a sentence without its point.
  static func remark(_ rebuild: RebuildRecord) -> String {
    let name = rebuild.projection
    let share = percent(rebuild.progress.percent)
    let kind = rebuild.isDryRun ? "dry run of a rebuild" : "rebuild"
    switch rebuild.state {
    case .failed: return "\(name) has a \(kind) that failed (\(share))"
    case .differs: return "\(name) has a \(kind) that differs from the live table"
    default: break
    }
    switch rebuild.waiting {
    case .paused: return "\(name) has a \(kind) that is paused (\(share))"
    case .interrupted: return "\(name) has a \(kind) that was interrupted (\(share))"
    case .due: return "\(name) has a \(kind) that waits for the service (\(share))"
    case nil:
      let doing = rebuild.wanted == "pause" ? "being paused" : "under way"
      return "\(name) has a \(kind) that is \(doing) (\(share))"
    }
  }

  /// What its operator can do about an open rebuild, each on a line of its own; nothing where it
  /// goes on by itself.
  static func nextStep(_ rebuild: RebuildRecord) -> String {
    let name = rebuild.projection
    let giveUp = "  or give up: jejak projection cancel \(name)\n"
    switch rebuild.state {
    case .failed:
      return "  mend the cause, then: jejak projection resume \(name)\n" + giveUp
    case .differs:
      return """
          where the log is right: jejak projection resume \(name) --accept-differences\n
        """ + giveUp
    default: break
    }
    switch rebuild.waiting {
    case .paused, .interrupted:
      return "  go on: jejak projection resume \(name)\n" + giveUp
    case .due: return "  jejak serve takes it up\n" + giveUp
    case nil: return ""
    }
  }
}
