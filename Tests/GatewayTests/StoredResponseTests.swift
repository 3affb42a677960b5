import Accounts
import Clocks
import HTTP
import JSON
import Postgres
import Profiles
import TestSupport
import Testing

@testable import Gateway

@Suite("A stored response")
struct StoredResponseTests {
  private let time = Timestamp(microseconds: 1_796_032_923_040_506)

  @Test func `comes back with status, headers and body`() throws {
    var response = Response(
      status: 201,
      contentType: "application/json",
      body: Array("{\"a\":1}".utf8)
    )
    response.add("Location", "/v1/users/1")
    response.add("ETag", "\"1\"")
    response.add("X-Request-Id", "not stored")
    let bytes = StoredResponse.encode(response)
    let read = try #require(StoredResponse.decode(bytes, committedAt: time))
    #expect(read.status == 201)
    #expect(read.body == response.body)
    #expect(read.header("Content-Type") == "application/json")
    #expect(read.header("Location") == "/v1/users/1")
    #expect(read.header("ETag") == "\"1\"")
    #expect(read.headers.count == 3)
  }

  @Test func `may have no headers and no body`() throws {
    let bytes = StoredResponse.encode(Response(status: 204))
    let read = try #require(StoredResponse.decode(bytes, committedAt: time))
    #expect(read.status == 204)
    #expect(read.headers.isEmpty)
    #expect(read.body.isEmpty)
  }

  @Test func `has the time of the commit where it has holes`() throws {
    var body: [UInt8] = []
    body += "{\"version\":1".utf8
    UserDocument.finish(&body, version: Version(3), createdAt: nil, updatedAt: nil)
    let bytes = StoredResponse.encode(Response(status: 200, body: body))
    let read = try #require(StoredResponse.decode(bytes, committedAt: time))
    let text = String(decoding: read.body, as: UTF8.self)
    #expect(
      text == """
        {"version":1,"version":3,"createdAt":"2026-11-30T10:02:03.040506Z",\
        "updatedAt":"2026-11-30T10:02:03.040506Z"}
        """
    )
  }

  @Test func `that is cut off in its head is none`() {
    #expect(StoredResponse.decode([], committedAt: time) == nil)
    #expect(StoredResponse.decode([0, 200], committedAt: time) == nil)
    #expect(StoredResponse.decode([0, 200, 1], committedAt: time) == nil)
  }
}

@Suite("A user's document")
struct UserDocumentTests {
  @Test func `is finished with version and times, byte for byte`() throws {
    let registration = try TestUser.registration(attributes: ["height": 170.5, "n": ["a": true]])
    let id = UserID(high: 0x0198_F0C2_0000_7000, low: 0x8000_0000_0000_0001)
    let user = try #require(User(id: id, first: .userRegistered(registration, nil)))
    var body = user.document
    UserDocument.finish(
      &body,
      version: user.version,
      createdAt: Timestamp(microseconds: 0),
      updatedAt: Timestamp(microseconds: 1)
    )
    #expect(
      String(decoding: body, as: UTF8.self) == """
        {"id":"0198f0c2-0000-7000-8000-000000000001","email":"ada@example.com",\
        "emailVerified":false,"firstName":"Ada","lastName":null,\
        "attributes":{"height":170.5,"n":{"a":true}},"status":"active","version":1,\
        "createdAt":"1970-01-01T00:00:00.000000Z","updatedAt":"1970-01-01T00:00:00.000001Z"}
        """
    )
    // It is what any reader of JSON takes.
    #expect(try JSON.parse(body).object?["version"] == 1)
  }

  @Test func `is answered with its version as entity tag`() {
    let response = UserDocument.response(status: 200, version: Version(7), body: [])
    #expect(response.header("ETag") == "\"7\"")
    #expect(response.header("Cache-Control") == "private, no-cache")
    #expect(response.header("Content-Type") == "application/json")
  }
}
