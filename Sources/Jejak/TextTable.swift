/// Lines of columns for a terminal, each as wide as its widest text.
enum TextTable {
  static func of(_ header: [String], _ rows: [[String]]) -> String {
    let lines = [header] + rows
    let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    return lines.map { line in
      let cells = zip(line, widths).map { text, width in
        text + String(repeating: " ", count: width - text.count)
      }
      let text = cells.joined(separator: "  ")
      return text.prefix(
        upTo: text.lastIndex { $0 != " " }.map { text.index(after: $0) } ?? text.startIndex
      )
        + "\n"
    }.joined()
  }
}
