import Clocks
import JSON
import Notary
import Testing

@testable import Gateway

@Suite("The notary's health")
struct NotaryHealthTests {
  private let soon = Instant.now() + .seconds(1)
  private let late = Instant.now() + NotaryHealth.patience + .seconds(1)

  @Test func `is none once nothing was signed for long, whatever the reason`() {
    let health = NotaryHealth()
    #expect(health.report(at: soon) == nil)
    #expect(health.report(at: late)?.isDegraded == true)
    let told = health.report(at: late).map { String(decoding: $0.json.bytes, as: UTF8.self) }
    #expect(told?.contains("nothing-signed") == true)
    health.set(.signs)
    #expect(health.report(at: soon) == nil)
  }

  @Test func `is none while it refuses, or waits for sealing`() {
    let health = NotaryHealth()
    for state in [NotaryState.waitsForSealing, .refuses(.treeIsDamaged)] {
      health.set(state)
      #expect(health.report(at: soon)?.isDegraded == true)
    }
    health.set(.signs)
    #expect(health.report(at: soon) == nil)
  }
}
