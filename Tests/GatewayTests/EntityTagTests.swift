import Profiles
import Testing

@testable import Gateway

@Suite("Entity tags")
struct EntityTagTests {
  /// What the lines hold: `any`, the tags, or nil.
  private func read(_ lines: String...) -> [String]? {
    switch EntityTags(lines) {
    case nil: nil
    case .any: ["any"]
    case .list(let tags): tags.map { ($0.isWeak ? "W/" : "") + "[\($0.opaque)]" }
    }
  }

  @Test func `are read one or many, on one line or several`() {
    #expect(read("\"5\"") == ["[5]"])
    #expect(read("\"4\", \"5\"") == ["[4]", "[5]"])
    #expect(read("\"4\",\"5\"") == ["[4]", "[5]"])
    #expect(read("\"4\"", "W/\"5\"") == ["[4]", "W/[5]"])
    #expect(read("  \"4\" \t,, \"5\" ,") == ["[4]", "[5]"])
    #expect(read("\"\"") == ["[]"])
  }

  @Test func `may have a comma inside`() {
    #expect(read("\"a,b\"") == ["[a,b]"])
    #expect(read("\"a,b\", \"c\"") == ["[a,b]", "[c]"])
  }

  @Test func `are any where a star stands alone`() {
    #expect(read("*") == ["any"])
    #expect(read(" * ") == ["any"])
    #expect(read("*, \"5\"") == nil)
  }

  @Test(arguments: [
    "", " ", ",", "5", "\"5", "5\"", "\"5\" \"6\"", "w/\"5\"", "W/5", "W/ \"5\"", "\"5\"x", "'5'",
  ])
  func `that are malformed are none`(text: String) {
    #expect(read(text) == nil)
  }

  @Test func `are bounded`() {
    let tags = Array(repeating: "\"5\"", count: EntityTags.limit)
    #expect(read(tags.joined(separator: ","))?.count == EntityTags.limit)
    #expect(read((tags + ["\"5\""]).joined(separator: ",")) == nil)
  }

  @Test func `name a version strongly or weakly`() {
    let strong = EntityTag(isWeak: false, opaque: "5")
    let weak = EntityTag(isWeak: true, opaque: "5")
    #expect(strong.strongly(Version(5)))
    #expect(strong.weakly(Version(5)))
    #expect(!weak.strongly(Version(5)))
    #expect(weak.weakly(Version(5)))
    #expect(!strong.strongly(Version(55)))
    #expect(!EntityTag(isWeak: false, opaque: "05").strongly(Version(5)))
    #expect(strong.version == Version(5))
    #expect(weak.version == nil)
    #expect(EntityTag(isWeak: false, opaque: "a").version == nil)
    #expect(EntityTag.text(Version(5)) == "\"5\"")
  }
}

@Suite("A media type")
struct MediaTypeTests {
  private let patches = ["application/merge-patch+json", "application/json"]

  @Test(arguments: [
    "application/json", "application/json; charset=UTF-8", "application/json;charset=\"utf-8\"",
    "application/merge-patch+json", "APPLICATION/JSON", "Application/Merge-Patch+JSON",
    " application/json ; charset = utf-8", "application/json; version=1",
  ])
  func `that is JSON in UTF-8 is taken`(text: String) {
    #expect(MediaType(text).isJSON(patches))
  }

  @Test(arguments: [
    "", "text/plain", "application/json2", "json", "application/json; charset=iso-8859-1",
    "application/xml", "application/json-patch+json", "application/json, text/plain",
  ])
  func `of something else is not`(text: String) {
    #expect(!MediaType(text).isJSON(patches))
  }
}

@Suite("A resource")
struct ResourceTests {
  @Test(arguments: [
    ("/v1/users", "GET, POST, HEAD, OPTIONS"),
    ("/v1/users/me", "GET, PATCH, DELETE, HEAD, OPTIONS"),
    ("/v1/users/me/password", "POST, OPTIONS"), ("/v1/users/me/history", "GET, HEAD, OPTIONS"),
    ("/v1/sessions", "GET, POST, DELETE, HEAD, OPTIONS"), ("/v1/sessions/x", "DELETE, OPTIONS"),
    ("/v1/users/me/export", "GET, HEAD, OPTIONS"),
    ("/v1/users/01a22abc-86f0-7172-a247-47adcfe285ce", "GET, DELETE, HEAD, OPTIONS"),
    ("/livez", "GET, HEAD, OPTIONS"), ("/readyz", "GET, HEAD, OPTIONS"),
  ])
  func `says what can be done there`(path: String, allow: String) {
    #expect(Resource(path: path[...])?.allow == allow)
  }

  @Test(arguments: [
    "", "/", "/v1", "/v1/users/", "/v1/users/me/", "/v1/users/you", "/V1/users", "//v1/users",
    "/v1/sessions/", "/v1/sessions/a/b", "/v1/sessionsx", "/v1/users/me?x", "/livez/",
  ])
  func `is nothing under any other path`(path: String) {
    #expect(Resource(path: path[...]) == nil)
  }

  @Test func `of a session has its name`() throws {
    guard case .session("current")? = Resource(path: "/v1/sessions/current") else {
      Issue.record("no session")
      return
    }
  }
}
