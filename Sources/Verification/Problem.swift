public import EventLog
public import MerkleTree
public import Profiles

/// What can be wrong.
public enum Problem: Sendable, Equatable {
  /// There is no event here, and so many together are missing.
  case eventsAreMissing(Int64)
  /// There are two events of this position.
  case positionIsTaken
  /// The position is none that the log has come to: there are not so many events.
  case positionIsBeyond
  /// The event was recorded before the one before it.
  case timeFalls
  /// The event is not the one that the tree has at its position.
  case leafDiffers
  /// The tree can't have so many leaves: there are neither hashes nor events of them.
  case sizeIsImpossible(Int64)
  /// The tile is not what the events hash to, though what stands above it is.
  case leavesDiffer
  /// The tile, or a part of it, is not there.
  case tileIsMissing
  /// There is a tile that no tree of this size has.
  case tileIsUnfounded
  /// The hash at that place is not the one of the tile below.
  case hashDiffers(Int, TileID)
  /// What is stored as a checkpoint is none.
  case noteIsNone
  /// The log's key has not signed the checkpoint.
  case noteIsNotSigned
  /// The checkpoint says other things than the columns beside it.
  case noteDiffers
  /// The tree is not the one that was signed.
  case rootDiffers
  /// The tree has fewer leaves.
  case checkpointIsAhead(tree: Int64)
  /// The database has not kept the checkpoint, which was signed.
  case checkpointIsMissing
  /// The checkpoint is of an origin that the log doesn't have.
  case checkpointIsUnfounded
  /// The checkpoint that was kept outside is not signed by a key of the log.
  case outsideIsNotSigned
  /// The log is shorter than the checkpoint that was kept outside.
  case outsideIsAhead(head: Int64)
  /// The tree is not the one of the checkpoint that was kept outside.
  case outsideDiffers
  /// The log is signed with another key than the one that was given.
  case keyDiffers(String?)
  /// The table or function is not as the migrations have made it: why.
  case schemaDiffers(String)
  /// The column `is_complete` says otherwise than the log's secret.
  case sealingDiffers
  /// Not every payload of the log is sealed yet, as column and secret say.
  case notSealed
  /// The payload is not the one whose digest stands beside it.
  case payloadDigest
  /// The payload is gone, though the user has not been erased.
  case payloadIsMissing
  /// The payload is there, though the user has been erased.
  case payloadRemains
  /// The event comes after the one, at that position, that erased the user.
  case eventFollowsErasure(Position)
  /// The event's version is not the one after that of the event before it in its stream.
  case version(found: Version, due: Version)
  /// The event can't be read: why.
  case unreadable(String)
  /// The row of `current_users` is not what the user's events add up to.
  case rowDiffers
  /// There is no row in `current_users`.
  case rowIsMissing
  /// The row in `current_users` comes of no event.
  case rowIsUnfounded
  /// The password's hash is not the one that the log commits to, at that position.
  case passwordDiffers(Position)
  /// There is no password's hash, though the log commits to one, at that position.
  case passwordIsMissing(Position)
  /// There is a password's hash, and nothing in the log that commits to one.
  case passwordIsUnfounded
  /// The commitment beside the password's hash is not that hash's own.
  case commitmentDiffers
  /// There is a key of a user who has no events.
  case keyIsUnfounded
  /// There is no claim of the user's address.
  case claimIsMissing
  /// The claim is of another address than the one that the log has.
  case claimDiffers
  /// There is a claim of a user who has no events, or a second one.
  case claimIsUnfounded
  /// The user has been erased, at that position, and `erasures` doesn't say so.
  case erasureIsMissing(Position)
  /// What `erasures` says of the user the log does not.
  case erasureIsUnfounded
  /// The user has been erased, and the table has rows of theirs.
  case remains(String)

  /// A name for programs.
  public var code: String {
    switch self {
    case .eventsAreMissing: "missing"
    case .positionIsTaken: "position-taken"
    case .positionIsBeyond: "position-beyond"
    case .timeFalls: "time-falls"
    case .leafDiffers: "event-differs"
    case .sizeIsImpossible: "size-impossible"
    case .leavesDiffer: "tile-differs"
    case .tileIsMissing: "tile-missing"
    case .tileIsUnfounded: "tile-unfounded"
    case .hashDiffers: "hash-differs"
    case .noteIsNone: "note-invalid"
    case .noteIsNotSigned: "note-unsigned"
    case .noteDiffers: "note-differs"
    case .rootDiffers: "root-differs"
    case .checkpointIsAhead: "checkpoint-ahead"
    case .checkpointIsMissing: "checkpoint-missing"
    case .checkpointIsUnfounded: "checkpoint-unfounded"
    case .outsideIsNotSigned: "file-unsigned"
    case .outsideIsAhead: "file-ahead"
    case .outsideDiffers: "file-differs"
    case .keyDiffers: "key-differs"
    case .schemaDiffers: "schema-differs"
    case .sealingDiffers: "sealing-differs"
    case .notSealed: "not-sealed"
    case .payloadDigest: "payload-digest"
    case .payloadIsMissing: "payload-missing"
    case .payloadRemains: "payload-remains"
    case .eventFollowsErasure: "after-erasure"
    case .version: "version"
    case .unreadable: "unreadable"
    case .rowDiffers: "row-differs"
    case .rowIsMissing: "row-missing"
    case .rowIsUnfounded: "row-unfounded"
    case .passwordDiffers: "password-differs"
    case .passwordIsMissing: "password-missing"
    case .passwordIsUnfounded: "password-unfounded"
    case .commitmentDiffers: "commitment-differs"
    case .keyIsUnfounded: "key-unfounded"
    case .claimIsMissing: "claim-missing"
    case .claimDiffers: "claim-differs"
    case .claimIsUnfounded: "claim-unfounded"
    case .erasureIsMissing: "erasure-missing"
    case .erasureIsUnfounded: "erasure-unfounded"
    case .remains: "remains"
    }
  }
}

extension Problem: CustomStringConvertible {
  /// For the operator.
  public var description: String {
    switch self {
    case .eventsAreMissing(let count):
      count == 1 ? "there is no event" : "there is no event, nor at the \(count - 1) after it"
    case .positionIsTaken: "there are two events"
    case .positionIsBeyond: "there are not so many events"
    case .timeFalls: "the event was recorded before the one before it"
    case .leafDiffers: "the event is not the one that the tree has here"
    case .sizeIsImpossible(let size):
      "it is said to have \(size) leaves, and there are neither hashes nor events of so many"
    case .leavesDiffer: "it is not what the events hash to, though what stands above it is"
    case .tileIsMissing: "it is not there, or not as long as it should be"
    case .tileIsUnfounded: "a tree of this size has no such tile"
    case .hashDiffers(let place, let tile):
      "its hash \(place) is not that of tile \(TilePath(tile, width: TileID.fullWidth))"
    case .noteIsNone: "what is stored is no checkpoint"
    case .noteIsNotSigned: "the log's key has not signed it"
    case .noteDiffers: "it says other things than the columns beside it"
    case .rootDiffers: "the tree is not the one that was signed"
    case .checkpointIsAhead(let size): "the tree has only \(size)"
    case .checkpointIsMissing: "it was signed, and the database has not kept it"
    case .checkpointIsUnfounded: "the log has no key of its origin"
    case .outsideIsNotSigned: "the file is not signed by a key of this log"
    case .outsideIsAhead(let head): "the log ends at position \(head): its tail was cut off"
    case .outsideDiffers: "the log is not the one that was signed, as the file has it"
    case .keyDiffers(let name):
      "the log is signed with another key, of \(name ?? "an unknown origin")"
    case .schemaDiffers(let reason): reason
    case .sealingDiffers: "is_complete is not what the log's secret says"
    case .notSealed: "the log is not sealed yet, so what is plain in it proves nothing"
    case .payloadDigest: "the payload is not the one whose digest stands beside it"
    case .payloadIsMissing: "the payload is gone, and the user has not been erased"
    case .payloadRemains: "the payload is there, and the user has been erased"
    case .eventFollowsErasure(let position):
      "the event comes after position \(position), where the user was erased"
    case .version(let found, let due): "version \(found) where \(due) was due"
    case .unreadable(let reason): reason
    case .rowDiffers: "the row in current_users is not what the events add up to"
    case .rowIsMissing: "there is no row in current_users"
    case .rowIsUnfounded: "the row in current_users comes of no event"
    case .passwordDiffers(let position):
      "the password's hash is not the one that position \(position) commits to"
    case .passwordIsMissing(let position):
      "there is no password's hash, and position \(position) commits to one"
    case .passwordIsUnfounded: "there is a password's hash that no event commits to"
    case .commitmentDiffers: "the commitment beside the password's hash is not that hash's own"
    case .keyIsUnfounded: "user_keys has a key, and there are no events"
    case .claimIsMissing: "email_claims lacks the user's address"
    case .claimDiffers: "email_claims has another address than the log"
    case .claimIsUnfounded: "email_claims has an address for which there are no events"
    case .erasureIsMissing(let position):
      "position \(position) erased the user, and the table erasures doesn't say so"
    case .erasureIsUnfounded: "the log says otherwise of the erasure in the table erasures"
    case .remains(let table): "the user has been erased, and \(table) has rows of theirs"
    }
  }
}
