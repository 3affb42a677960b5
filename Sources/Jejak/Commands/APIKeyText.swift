import Accounts
import Clocks
import JSON
import Profiles

/// API keys as programs and people read them.
enum APIKeyText {
  static func json(_ key: APIKeys.Listed) -> JSONObject {
    func text(_ time: Timestamp?) -> JSON { time.map { .string($0.description) } ?? .null }
    return [
      "id": .string(key.id.description), "name": .string(key.name),
      "scopes": .array(key.scopes.map { .string($0.rawValue) }),
      "state": .string(key.state.rawValue), "createdAt": text(key.createdAt),
      "expiresAt": text(key.expiresAt), "revokedAt": text(key.revokedAt),
      "lastUsedAt": text(key.lastUsedAt),
    ]
  }

  static func table(_ keys: [APIKeys.Listed]) -> String {
    let rows =
      [["ID", "NAME", "STATE", "SCOPES", "CREATED", "EXPIRES", "LAST USED"]]
      + keys.map { key in
        [
          key.id.description, key.name, key.state.rawValue,
          key.scopes.map(\.rawValue).joined(separator: ","), minute(key.createdAt),
          key.expiresAt.map(minute) ?? "never", key.lastUsedAt.map(minute) ?? "never",
        ]
      }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (cell, width) in zip(row, widths) {
        line += cell + String(repeating: " ", count: width - cell.count + 2)
      }
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }

  /// `2026-11-30T10:00Z`.
  private static func minute(_ time: Timestamp) -> String { time.description.prefix(16) + "Z" }
}
