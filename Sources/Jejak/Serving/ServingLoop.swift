import Accounts
import Clocks
import EventLoop
import Gateway
import HTTP
import Keys
import Logging

/// One event loop with all that it owns: a listening socket, connections, accounts, a gateway.
final class ServingLoop: Sendable {
  private let loop: EventLoop
  private let thread: LoopThread
  private let connections: Connections
  private let accounts: Accounts
  private let server: Server
  private let logger: Logger

  /// Takes over `loop`, which is not yet running, and starts it.
  init(
    _ loop: EventLoop,
    number: Int,
    socket: Int32,
    target: String,
    chains: Chains,
    hashing: PasswordHashing,
    keyring: Keyring,
    rules: Accounts.Rules,
    shared: Gateway.Shared,
    logger: Logger
  ) throws {
    let connections = Connections(
      loop: loop,
      target: target,
      readiness: shared.readiness
    ) { reason in
      logger.warning("database connection", ["reason": .string(reason)])
    }
    let accounts = Accounts(
      loop: loop,
      connections: connections,
      chains: chains,
      hashing: hashing,
      keyring: keyring,
      rules: rules
    ) { reason in
      logger.warning("deferred work", ["reason": .string(reason)])
    }
    let gateway = Gateway(loop: loop, accounts: accounts, shared: shared)
    server = Server(loop: loop, refuse: { gateway.refuse($0, $1) }) { await gateway.answer($0) }
    self.loop = loop
    self.connections = connections
    self.accounts = accounts
    self.logger = logger
    thread = try loop.start(name: "loop-\(number)")
    loop.execute { [server] in
      do {
        try server.open(socket: socket)
      } catch {
        logger.error("can't serve", ["reason": .string("\(error)")])
      }
    }
  }

  func openConnections() {
    loop.execute { [connections] in connections.open() }
  }

  /// Deletes what has outlived its time: receipts and sessions.
  func tidy() {
    loop.execute { [accounts] in accounts.tidy() }
  }

  /// Stops accepting, answers what has come, writes what was deferred; then calls `drained`.
  func drain(within grace: Duration, _ drained: @escaping @Sendable () -> Void) {
    Task(executorPreference: loop) { [self] in
      await server.drain(within: grace)
      let deadline = Instant.now() + grace
      while accounts.hasDeferredWork, Instant.now() < deadline {
        await loop.sleep(for: .milliseconds(5))
      }
      connections.close()
      drained()
    }
  }

  /// Ends the loop; `join` waits for that.
  func stop() { loop.stop() }

  func join() { thread.join() }
}
