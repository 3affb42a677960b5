import Accounts
import EventLoop
import Profiles
import Projections
import TestSupport
import Testing

@Suite("The line for users as they were", .database)
struct TurnsTests {
  @Test func `lets a few at a time go on, has others wait, and refuses what is too much`()
    async throws
  {
    try await withAccounts { fixture in
      let user = try await fixture.register()
      let (accounts, loop) = (fixture.accounts, fixture.loop)
      let asked = 400
      for _ in 0..<2 {
        let answered = LoopBound(0, on: loop)
        let refused = LoopBound(0, on: loop)
        let failed = LoopBound(0, on: loop)
        for _ in 0..<asked {
          Task(executorPreference: loop) {
            do {
              let past = try await accounts.user(user.id, at: .version(user.version))
              if past?.version == user.version {
                answered.value += 1
              } else {
                failed.value += 1
              }
            } catch AccountsError.overloaded {
              refused.value += 1
            } catch {
              failed.value += 1
            }
          }
        }
        try await loop.until { answered.value + refused.value + failed.value == asked }
        #expect(failed.value == 0)
        #expect(refused.value > 0)
        // Those that were let in, and those that waited.
        #expect(answered.value >= 68)
      }
      // Every turn was given back.
      let past = try await accounts.user(user.id, at: .version(user.version))
      #expect(past?.id == user.id)
    }
  }
}
