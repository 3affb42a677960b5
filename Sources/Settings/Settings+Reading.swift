import CLinux
import Glibc

extension Settings {
  /// The options that commands on the database share, `--config` among them.
  public static var databaseOptions: [CommandOption] { options { $0.group == .database } }

  /// The options of `serve`: all of them.
  public static var allOptions: [CommandOption] { options { _ in true } }

  /// Reads the settings: flags over environment over the file of `--config`.
  ///
  /// An empty variable counts as unset, as container tools pass unset ones so.
  ///
  /// - Parameters:
  ///   - arguments: a command line that was parsed with `allOptions` or `databaseOptions`.
  ///   - environment: a lookup, by default in the environment of the process.
  /// - Throws: a line that names the setting, and where its value came from.
  public init(
    _ arguments: CommandArguments,
    environment: (String) -> String? = variable(named:)
  ) throws(UsageError) {
    self.init()
    let path = arguments["config"]
    let file = if let path { try SettingsFile(path: path) } else { SettingsFile?.none }
    for setting in Setting.table {
      let flag = setting.option.name
      if let value = arguments[flag] {
        let text = setting.option.placeholder == nil ? setting.bareValue : value
        try apply(setting, text, from: "--\(flag)")
      } else if let text = environment(setting.variable), !text.isEmpty {
        try apply(setting, text, from: setting.variable)
      } else if let path, let value = file?.values[setting.variable], !value.text.isEmpty {
        try apply(setting, value.text, from: "\(path):\(value.line): \(setting.variable)")
      } else if let standard = setting.standard {
        try apply(setting, standard, from: setting.variable)
      }
    }
    guard sessionIdle <= sessionMax else {
      throw UsageError("JEJAK_SESSION_IDLE (--session-idle) is longer than JEJAK_SESSION_MAX")
    }
  }

  /// A variable of the environment of this process.
  public static func variable(named name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  private mutating func apply(
    _ setting: Setting,
    _ text: String,
    from origin: String
  ) throws(UsageError) {
    guard !setting.read(text, &self) else { return }
    let given = setting.isSecret ? "" : ", not '\(text)'"
    throw UsageError("\(origin): expected \(setting.expected)\(given)")
  }

  private static func options(where isIncluded: (Setting) -> Bool) -> [CommandOption] {
    let config = CommandOption(
      "config",
      "FILE",
      help: "A file of KEY=value lines with the names in brackets; flags and environment "
        + "go before it."
    )
    return Setting.table.filter(isIncluded).map(\.option) + [config]
  }
}
