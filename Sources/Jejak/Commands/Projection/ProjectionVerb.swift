import Settings

/// One verb of `jejak projection`; each is in a file of its own.
struct ProjectionVerb {
  /// What a verb is called with.
  struct Call {
    /// The database, whose schema is the right one.
    let database: Database
    /// The projection, or nothing where the verb takes none.
    let name: String
    let arguments: CommandArguments

    /// What libpq connects to, as the owner.
    var target: String { database.target }
    var wantsJSON: Bool { arguments.has("json") }
  }

  let name: String
  var takesName = true
  /// What it does, in a sentence.
  let help: String
  /// Its options, besides `--json` and those of the database.
  var options: [CommandOption] = []
  let run: (Call) throws -> ExitStatus

  var synopsis: String { takesName ? "\(name) NAME" : name }
}
