import Foundation
import Testing

@testable import Logging

@Suite("A log line")
struct LoggerTests {
  /// What a logger writes into a pipe while `body` runs.
  private func lines(
    _ format: LogFormat,
    level: LogLevel = .debug,
    _ body: (Logger) -> Void
  ) -> [String] {
    let pipe = Pipe()
    body(
      Logger(
        format: format,
        level: level,
        descriptor: pipe.fileHandleForWriting.fileDescriptor,
        now: { "2026-11-30T10:00:00.000001Z" }
      )
    )
    try? pipe.fileHandleForWriting.close()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test func `is one JSON object`() {
    let written = lines(.json) {
      $0.info(
        "ready",
        ["port": 8080, "elapsedSeconds": 1.5, "migrated": true, "host": "a b"]
      )
    }
    #expect(
      written == [
        #"{"time":"2026-11-30T10:00:00.000001Z","level":"info","message":"ready","#
          + #""port":8080,"elapsedSeconds":1.5,"migrated":true,"host":"a b"}"#
      ]
    )
  }

  @Test func `is plain text where asked`() {
    let written = lines(.text) {
      $0.warning("pool is full", ["queued": 12, "user": "0198", "reason": "two words"])
    }
    #expect(
      written == [
        #"2026-11-30T10:00:00.000001Z WARNING pool is full queued=12 user=0198 "#
          + #"reason="two words""#
      ]
    )
  }

  @Test(arguments: LogFormat.allCases)
  func `stays one line whatever it is given`(_ format: LogFormat) {
    let written = lines(format) {
      $0.error("failed", ["reason": "a\nb\r\u{1B}[31m\u{202E}\u{2028}\u{85}\"\\"])
    }
    #expect(written.count == 1)
    #expect(written[0].contains(#"a\nb\r\u001b[31m\u202e\u2028\u0085\"\\"#))
    if format == .json {
      #expect(throws: Never.self) {
        try JSONSerialization.jsonObject(with: Data(written[0].utf8))
      }
    }
  }

  @Test func `is written from its level up`() {
    let written = lines(.text, level: .warning) {
      $0.debug("no")
      $0.info("no")
      $0.notice("no")
      $0.warning("yes")
      $0.error("yes")
    }
    #expect(written.count == 2)
  }

  @Test func `fits one write, cut between characters`() {
    let written = lines(.text) {
      $0.info("long", ["text": .string(String(repeating: "é", count: 9000))])
    }
    #expect(written.count == 1)
    #expect(written[0].utf8.count < LogSink.longestLine)
    #expect(written[0].hasSuffix("é…"))
  }

  @Test(.timeLimit(.minutes(5)))
  func `is dropped, and counted, when nobody reads`() {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    let logger = Logger(format: .json, descriptor: descriptor)
    let filler = String(repeating: "x", count: 1000)
    for _ in 0..<500 { logger.info("flood", ["filler": .string(filler)]) }
    _ = pipe.fileHandleForReading.availableData
    logger.info("after")
    try? pipe.fileHandleForWriting.close()
    let rest = pipe.fileHandleForReading.readDataToEndOfFile()
    #expect(String(decoding: rest, as: UTF8.self).contains("log lines dropped"))
  }
}
