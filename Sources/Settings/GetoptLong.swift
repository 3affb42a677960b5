import CLinux
import Glibc
import Synchronization

/// getopt_long keeps its place in globals.
private let getoptIsBusy = Mutex(())

/// Reads long options with the C library's parser, in GNU style: in any order with operands,
/// `--name value` or `--name=value`, shortened where that is clear, ended by `--`.
func parseLongOptions(
  _ arguments: [String],
  options: [CommandOption],
  usage: String
) throws(UsageError) -> CommandArguments {
  let parsed = getoptIsBusy.withLock { _ in
    withGetopt(arguments, options) { argv, table in
      scan(argv: argv, count: Int32(arguments.count + 1), table: table, options: options)
    }
  }
  return try parsed.mapError { UsageError("\($0.description); usage: \(usage)") }.get()
}

private func scan(
  argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
  count: Int32,
  table: UnsafePointer<option>,
  options: [CommandOption]
) -> Result<CommandArguments, UsageError> {
  var result = CommandArguments()
  jejak_getopt_restart()
  while true {
    var index: Int32 = 0
    // The colon asks for a missing argument to be told apart from an unknown option.
    let found = getopt_long(count, argv, ":", table, &index)
    let place = Int(jejak_getopt_index())
    switch found {
    case 0:
      let value = jejak_getopt_argument().map { String(cString: $0) } ?? ""
      result.options.append((options[Int(index)].name, value))
    case -1:
      result.operands = (place..<Int(count)).compactMap { argv[$0].map { String(cString: $0) } }
      return .success(result)
    default:
      let text = argv[max(place - 1, 1)].map { String(cString: $0) } ?? ""
      // What follows "=" may be a secret.
      let name = text.prefix { $0 != "=" }
      if found == Int32(UInt8(ascii: ":")) {
        return .failure(UsageError("option '\(name)' needs an argument"))
      }
      let isKnown = options.contains { "--\($0.name)" == name }
      return .failure(
        UsageError(
          isKnown ? "option '\(name)' takes no argument" : "unknown option '\(name)'"
        )
      )
    }
  }
}

/// Lends `arguments` and `options` to `body` as getopt_long takes them.
private func withGetopt<Result>(
  _ arguments: [String],
  _ options: [CommandOption],
  _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, UnsafePointer<option>) -> Result
) -> Result {
  let words = (["jejak"] + arguments).map { strdup($0) } + [nil]
  let names = options.map { strdup($0.name) }
  defer { for copy in words + names { free(copy) } }
  let table =
    zip(names, options).map { name, entry in
      option(
        name: name,
        has_arg: entry.placeholder == nil ? no_argument : required_argument,
        flag: nil,
        val: 0
      )
    } + [option()]
  let argv = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: words.count)
  defer { argv.deallocate() }
  argv.initialize(from: words, count: words.count)
  return table.withUnsafeBufferPointer { buffer in
    guard let base = buffer.baseAddress else { preconditionFailure("the table has an end mark") }
    return body(argv, base)
  }
}
