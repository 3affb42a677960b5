import Postgres
import Settings

extension ProjectionVerb {
  static var list: Self {
    Self(name: "list", takesName: false, help: "shows them.", run: list)
  }

  private static func list(_ call: Call) throws -> ExitStatus {
    let connection = try BlockingConnection(
      target: call.target,
      applicationName: "jejak projection"
    )
    let facts = try connection.query(
      """
      select (select coalesce(max(position), 0) from events), (select count(*) from current_users)
      """
    )
    let position: Int64 = facts.integer(0, 0)
    let rows: Int64 = facts.integer(0, 1)
    if call.wantsJSON {
      Output.write(
        """
        [{"name":"current_users","mode":"inline","position":\(position),"lag":0,"rows":\(rows)}]\n
        """
      )
    } else {
      Output.write("NAME           MODE    POSITION  LAG  ROWS\n")
      Output.write("current_users  inline  \(padded(position, 8))  \(padded(0, 3))  \(rows)\n")
    }
    return .success
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = "\(number)"
    return String(repeating: " ", count: max(0, width - digits.count)) + digits
  }
}
