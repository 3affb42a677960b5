public import Clocks

extension Day {
  /// From 1970 to 2000, where PostgreSQL's count begins.
  fileprivate static let epochOffset: Int32 = 10_957
}

extension Day: Value {
  /// `date`.
  public static var oid: UInt32 { 1082 }
  /// Four bytes.
  public func encode(into bytes: inout [UInt8]) {
    (daysSince1970 &- Day.epochOffset).encodeBigEndian(into: &bytes)
  }
}

extension Rows {
  /// A `date` column.
  public func day(_ row: Int, _ column: Int) -> Day {
    Day(daysSince1970: integer(row, column, as: Int32.self) &+ Day.epochOffset)
  }
}
