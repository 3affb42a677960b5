import Glibc
import JSON
import Logging
import Profiles
import Settings

/// The command `jejak serve`.
enum ServeCommand: Command {
  static let names = ["serve"]
  static let syntax = CommandSyntax(
    usage: "jejak serve [OPTION]…",
    summary: "Serves the HTTP interface until it is told to stop (SIGTERM, SIGINT).",
    options: Settings.allOptions
  )

  static func run(_ arguments: CommandArguments) throws -> ExitStatus {
    let settings = try Settings(arguments)
    let service = try Service(settings, schema: schema(settings.profileSchema))
    return try service.run()
  }

  private static func schema(_ path: String?) throws -> ProfileSchema {
    guard let path else { return .standard }
    guard let bytes = TextFile.read(path) else {
      throw CommandError("JEJAK_PROFILE_SCHEMA: can't read \(path)")
    }
    do {
      return try ProfileSchema(JSON.parse(bytes))
    } catch let error as SchemaError {
      throw CommandError("\(path): \(error.pointer.description): \(error.detail)")
    } catch {
      throw CommandError("\(path): not acceptable JSON: \(error)")
    }
  }
}
