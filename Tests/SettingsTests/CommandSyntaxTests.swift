import Testing

@testable import Settings

@Suite("A command line")
struct CommandSyntaxTests {
  private let syntax = CommandSyntax(
    usage: "jejak history USER",
    summary: "Shows what was changed.",
    options: [
      CommandOption("limit", "N", help: "How many entries."),
      CommandOption("json", help: "Print JSON."),
    ],
    operands: 1...1
  )

  @Test func `takes options and operands in any order`() throws {
    let arguments = try syntax.parse(["--json", "ada", "--limit=5"])
    #expect(arguments.operands == ["ada"])
    #expect(arguments.has("json"))
    #expect(arguments["limit"] == "5")
    #expect(try syntax.parse(["--lim", "7", "ada"])["limit"] == "7")
    #expect(try syntax.parse(["--limit", "7", "--limit", "8", "ada"])["limit"] == "8")
    #expect(try syntax.parse(["--", "--json"]).operands == ["--json"])
    #expect(try !syntax.parse(["ada"]).has("json"))
  }

  @Test(arguments: [
    (["ada", "--nope"], "unknown option '--nope'"),
    (["ada", "-x"], "unknown option '-x'"),
    (["ada", "--nope=secret"], "unknown option '--nope'"),
    (["ada", "--limit"], "option '--limit' needs an argument"),
    (["ada", "--json=yes"], "option '--json' takes no argument"),
    (["ada", "bob"], "unexpected argument 'bob'"),
    ([], "missing argument"),
  ])
  func `is refused in one line`(_ arguments: [String], _ expected: String) {
    #expect(throws: UsageError("\(expected); usage: jejak history USER")) {
      try syntax.parse(arguments)
    }
  }

  @Test func `asks for help without its operands`() throws {
    #expect(try syntax.parse(["--help"]).wantsHelp)
    #expect(syntax.help.hasPrefix("Usage: jejak history USER\n\nShows what was changed.\n"))
    #expect(syntax.help.contains("  --limit N\n      How many entries.\n  --json\n"))
  }
}
