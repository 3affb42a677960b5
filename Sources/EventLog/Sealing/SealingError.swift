/// Why a log is not taken for what the table `sealing` says, or not sealed.
public enum SealingError: Error, Equatable, CustomStringConvertible {
  /// The column `is_complete` says otherwise than the secret, which only a holder of the master key
  /// can make say it.
  case columnDiffers(isComplete: Bool)
  /// There is no master key in use, though the log was written with one.
  case keyIsGone
  /// A log that was signed was sealed before: the notary signs no other.
  case isSigned

  /// For the operator.
  public var description: String {
    switch self {
    case .columnDiffers(let isComplete):
      "the table sealing was altered: is_complete is \(isComplete), and the log's secret says otherwise"
    case .keyIsGone:
      "the table sealing was altered: it has no master key, and the log was written with one"
    case .isSigned:
      "the log was signed, so it was sealed before: what is plain in it was put there since, "
        + "and is not sealed; jejak verify names it"
    }
  }
}
