internal import JSON

extension SchemaCheck {
  mutating func string(_ text: String, _ rules: SchemaNode.StringRules) -> JSON {
    if let date = rules.date {
      self.date(text, date)
      return .string(text)
    }
    let text = plainText(text)
    let length = text.unicodeScalars.count
    if length < rules.lengths.lowerBound {
      note(.tooShort, "At least \(rules.lengths.lowerBound) characters are needed.")
    }
    if length > rules.lengths.upperBound {
      note(.tooLong, "At most \(rules.lengths.upperBound) characters are allowed.")
    }
    return .string(text)
  }

  private mutating func date(_ text: String, _ rules: SchemaNode.DateRules) {
    guard let date = CalendarDate(text) else {
      return note(.invalidDate, "A date of the calendar is needed, written YYYY-MM-DD.")
    }
    if let earliest = rules.earliest?.date(today: today), date < earliest {
      note(.dateTooOld, "The earliest date is \(earliest).")
    }
    if let latest = rules.latest, date > latest.date(today: today) {
      switch latest {
      case .today: note(.dateInFuture, "The date lies in the future.")
      case .date(let day): note(.outOfRange, "The latest date is \(day).")
      }
    }
  }

  mutating func number(_ value: JSON, _ rules: SchemaNode.NumberRules) -> JSON {
    var number = value
    if case .real(let real) = value {
      guard abs(real) <= ProfileSchema.maximumReal else {
        note(.outOfRange, "The number is too large.")
        return value
      }
      if rules.isInteger {
        guard let whole = Int64(exactly: real) else {
          note(.wrongType, "A whole number is needed.")
          return value
        }
        number = .integer(whole)
      }
    }
    if let bound = rules.minimum, number.isLess(than: bound) {
      note(.outOfRange, "It is less than the least value.")
    }
    if let bound = rules.maximum, bound.isLess(than: number) {
      note(.outOfRange, "It is more than the greatest value.")
    }
    if let bound = rules.exclusiveMinimum, !bound.isLess(than: number) {
      note(.outOfRange, "It must be greater than \(String(decoding: bound.bytes, as: UTF8.self)).")
    }
    if let bound = rules.exclusiveMaximum, !number.isLess(than: bound) {
      note(.outOfRange, "It must be less than \(String(decoding: bound.bytes, as: UTF8.self)).")
    }
    return number
  }

  /// What holds for every value, where a schema leaves the rest open.
  mutating func anything(_ value: JSON, _ extent: Extent) -> JSON {
    switch value {
    case .object(let object):
      return .object(
        self.object(object, SchemaNode.ObjectRules(additional: .anything), extent)
      )
    case .array(let elements):
      return array(
        elements,
        SchemaNode.ArrayRules(items: .anything, lengths: 0...ProfileSchema.defaultMaximumItems)
      )
    case .string(let text):
      return string(text, SchemaNode.StringRules())
    case .integer, .real:
      return number(value, SchemaNode.NumberRules(isInteger: false))
    case .null, .bool:
      return value
    }
  }

  /// Free text in NFC: no control characters but tab and line feed.
  private mutating func plainText(_ text: String) -> String {
    let text = text.nfc
    let isForbidden = text.unicodeScalars.contains { scalar in
      scalar.isNoncharacter || (scalar.isControl && scalar != "\n" && scalar != "\t")
    }
    if isForbidden { note(.forbiddenCharacter, "A control character is not allowed.") }
    return text
  }

  /// Whether an attribute may be called `name`.
  static func isName(_ name: String) -> Bool {
    (1...ProfileSchema.maximumNameLength).contains(name.unicodeScalars.count)
      && name.utf8.elementsEqual(name.nfc.utf8)
      && !name.unicodeScalars.contains {
        $0.isControl || $0.isBidiControl || $0.isLineSeparator || $0.isNoncharacter
      }
  }
}

extension JSON {
  /// Whether both are numbers and this is the smaller one.
  fileprivate func isLess(than other: JSON) -> Bool {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): a < b
    case (.integer(let a), .real(let b)): Double(a) < b
    case (.real(let a), .integer(let b)): a < Double(b)
    case (.real(let a), .real(let b)): a < b
    default: false
    }
  }
}
