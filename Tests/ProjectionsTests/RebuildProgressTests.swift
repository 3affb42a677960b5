import Projections
import Testing

@Suite("The progress of a rebuild")
struct RebuildProgressTests {
  private static func percent(
    _ phase: RebuildRecord.State,
    _ done: Int64,
    _ total: Int64
  ) -> Double {
    RebuildProgress(phase: phase, eventsDone: done, eventsTotal: total, rate: 0).percent
  }

  @Test func `is nothing while it is unknown what is to come`() {
    #expect(Self.percent(.preparing, 0, 0) == 0)
    #expect(Self.percent(.folding, 0, 0) == 0)
    #expect(Self.percent(.failed, 0, 0) == 0)
    #expect(Self.percent(.folding, 45, 100) == 45)
    #expect(Self.percent(.exchanging, 100, 100) == 100)
  }

  @Test func `is all of it where an empty log has been rebuilt`() {
    #expect(Self.percent(.done, 0, 0) == 100)
  }
}
