/// Why a value is refused, before it is known where it stood.
struct Problem: Error, Equatable {
  let code: FieldError.Code
  let detail: String

  init(_ code: FieldError.Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }
}
