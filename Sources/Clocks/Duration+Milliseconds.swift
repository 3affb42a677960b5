extension Duration {
  /// Milliseconds with three decimals.
  public var fractionalMilliseconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds * 1_000_000 + attoseconds / 1_000_000_000_000) / 1000
  }
}
