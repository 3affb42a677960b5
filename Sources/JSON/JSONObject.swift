/// The members of a JSON object, in order, each key once.
///
/// Profiles have a dozen members: a search through an array is faster than a hash of the key.
public struct JSONObject: Sendable {
  /// One key and its value.
  public struct Member: Sendable {
    /// The member's name.
    public var key: String
    /// The member's value.
    public var value: JSON

    /// A member of that name and value.
    @inlinable
    public init(key: String, value: JSON) {
      self.key = key
      self.value = value
    }
  }

  /// The members, in order.
  public private(set) var members: [Member]

  /// An object with `members`, whose keys the caller knows to differ.
  public init(_ members: [Member] = []) {
    self.members = members
  }

  /// The value of `key`, nil where there is none; setting nil removes the member.
  public subscript(key: String) -> JSON? {
    get {
      for member in members where member.key == key { return member.value }
      return nil
    }
    set {
      let index = members.firstIndex { $0.key == key }
      switch (index, newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append(Member(key: key, value: value))
      case (nil, nil): break
      }
    }
  }

  /// The same members, ordered by key.
  public func sortedByKey() -> JSONObject {
    for (first, second) in zip(members, members.dropFirst()) where second.key < first.key {
      return JSONObject(members.sorted { $0.key < $1.key })
    }
    return self
  }
}

extension JSONObject: RandomAccessCollection {
  /// Where the members begin.
  public var startIndex: Int { 0 }
  /// Where they end.
  public var endIndex: Int { members.count }
  /// The member at `position`.
  public subscript(position: Int) -> Member { members[position] }
}

extension JSONObject: Hashable {
  /// Whether both have the same keys with equal values, in whatever order.
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left.members, right.members).allSatisfy { $0.key == $1.key && $0.value == $1.value }
      || left.members.allSatisfy { right[$0.key] == $0.value }
  }

  /// Feeds a sum over the members, which no order changes.
  public func hash(into hasher: inout Hasher) {
    var sum = 0
    for member in members {
      var one = Hasher()
      one.combine(member.key)
      one.combine(member.value)
      sum &+= one.finalize()
    }
    hasher.combine(sum)
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// An object with its members in the order written.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self.init(elements.map { Member(key: $0.0, value: $0.1) })
  }
}
