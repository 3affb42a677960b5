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
      let pointer = error.pointer.description
      throw CommandError("\(path): \(pointer.isEmpty ? "the root" : pointer): \(error.detail)")
    } catch JSONError.malformed(let place) {
      throw CommandError("\(path):\(place.line):\(place.column): \(place.reason.rawValue)")
    } catch JSONError.numberNotExact(let pointer) {
      throw CommandError("\(path): \(pointer.description): this number can't be kept exactly")
    } catch JSONError.nulCharacter(let pointer) {
      throw CommandError("\(path): \(pointer.description): U+0000 is not allowed")
    }
  }
}
