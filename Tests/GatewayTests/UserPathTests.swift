import Profiles
import Testing

@testable import Gateway

@Suite("A path below a user")
struct UserPathTests {
  private static let id = "01a22abc-86f0-7172-a247-47adcfe285ce"

  /// The resource in words.
  private func named(_ path: String) -> String {
    switch Resource(path: path[...]) {
    case .difference(let id)?: "difference \(id.map(\.description) ?? "me")"
    case .revert(let id, let version)?: "revert \(id.map(\.description) ?? "me") \(version)"
    case .proof(let id, let version)?: "proof \(id.map(\.description) ?? "me") \(version)"
    case .tree(let resource)?: "\(resource)"
    case .user(let id)?: "user \(id)"
    case let other?: "\(other)"
    case nil: "nothing"
    }
  }

  @Test(arguments: [
    ("/v1/users/me", "me"), ("/v1/users/\(id)", "user \(id)"),
    ("/v1/users/me/diff", "difference me"), ("/v1/users/\(id)/diff", "difference \(id)"),
    ("/v1/users/me/history/3/revert", "revert me 3"),
    ("/v1/users/\(id)/history/2147483647/revert", "revert \(id) 2147483647"),
    ("/v1/users/me/history/3/proof", "proof me 3"),
    ("/v1/users/\(id)/history/1/proof", "proof \(id) 1"), ("/v1/log/checkpoint", "checkpoint"),
    ("/v1/log/key", "key"),
  ])
  func `names what is there`(path: String, expected: String) {
    #expect(named(path) == expected)
  }

  @Test(arguments: [
    "/v1/users/you/diff", "/v1/users//diff", "/v1/users/me/diff/", "/v2/users/me/diff",
    "/x/v1/users/me/diff", "/v1/users/me/history/0/revert", "/v1/users/me/history//revert",
    "/v1/users/me/history/-1/revert", "/v1/users/me/history/+1/revert",
    "/v1/users/me/history/2147483648/revert", "/v1/users/me/history/1/revert/",
    "/v1/users/me/history/1/proofs", "/v1/users/me/history/0/proof",
    "/v1/users/me/history/01/proof", "/v1/users/me/history/01/revert", "/v1/log", "/v1/log/",
    "/v1/log/checkpoint/", "/v1/log/tile", "/v1/log/tile/", "/v1/log/tile/entries/000",
    "/v2/log/checkpoint", "/v1/log/Checkpoint",
    "/v1/users/me/history/1", "/v1/users/me/history/1/undo", "/v1/users/me/history/1/2/revert",
    "/v1/users/me/history/١/revert", "/v1/sessions/me/history/1/revert",
  ])
  func `that is none names nothing`(path: String) {
    #expect(named(path) == "nothing")
  }
}
