import MerkleTree
import Sodium
import Testing

/// The keys and the note of the documentation of golang.org/x/mod/sumdb/note.
private let secret =
  "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
private let verifierText = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
private let text = """
  If you think cryptography is the answer to your problem,
  then you don't know what your problem is.

  """
private let signatureLine =
  "\u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdng"
  + "otpRZb6KE6RyyBwJnAM="
private let published = text + "\n" + signatureLine + "\n"

@Suite("A signed note")
struct NoteTests {
  private func keys() throws -> (NoteSigner, NoteVerifier) {
    (try #require(NoteSigner(secret)), try #require(NoteVerifier(verifierText)))
  }

  @Test func `is signed as other programs sign it`() throws {
    let (signer, verifier) = try keys()
    #expect(signer.verifier == verifier)
    #expect(signer.secretText == secret)
    #expect(verifier.description == verifierText)
    let note = SignedNote(text: text, signatures: []).signed(by: signer)
    #expect(note.description == published)
    let read = try #require(SignedNote(Array(published.utf8)))
    #expect(read == note)
    #expect(read.isSigned(by: verifier))
  }

  @Test func `counts for the keys that have signed it, and no others`() throws {
    let (signer, verifier) = try keys()
    let other = try #require(NoteSigner.make(name: "PeterNeumann"))
    let note = SignedNote(text: text, signatures: []).signed(by: other)
    #expect(note.isSigned(by: other.verifier))
    #expect(!note.isSigned(by: verifier))
    let both = note.signed(by: signer)
    #expect(both.isSigned(by: verifier))
    #expect(both.isSigned(by: other.verifier))
    // Another text under the same signature.
    let changed = SignedNote(text: text + "!\n", signatures: both.signatures)
    #expect(!changed.isSigned(by: verifier))
    // A false signature beside a good one makes the note worthless.
    let forged = SignedNote.Signature(
      name: verifier.name,
      keyID: verifier.keyID,
      bytes: [UInt8](repeating: 1, count: 64)
    )
    #expect(!SignedNote(text: text, signatures: both.signatures + [forged]).isSigned(by: verifier))
  }

  @Test func `keeps the last empty line for the signatures`() throws {
    let (signer, verifier) = try keys()
    let poem = "one\n\ntwo\n"
    let note = SignedNote(text: poem, signatures: []).signed(by: signer)
    let read = try #require(SignedNote(Array(note.description.utf8)))
    #expect(read.text == poem)
    #expect(read.isSigned(by: verifier))
  }

  @Test(arguments: [
    "", "\n", text, text + "\n", "\n" + signatureLine + "\n", text + "\n" + signatureLine,
    text + "\n" + signatureLine + "\n\n", text + "\r\n" + signatureLine + "\n",
    text + "\t\n" + signatureLine + "\n", text + "\n- PeterNeumann x08go/Y=\n",
    text + "\n\u{2014} PeterNeumann\n", text + "\n\u{2014}  x08go/ZJkuBS9U=\n",
    text + "\n\u{2014} Peter Neumann x08go/ZJkuBS\n", text + "\n\u{2014} Peter+N x08go/ZJkuBS\n",
    text + "\n\u{2014} PeterNeumann x08go/==\n", text + "\n\u{2014} PeterNeumann x08g?/ZJ\n",
    text + "\n\u{2014} PeterNeumann x08gow==\n",
  ])
  func `is nothing else`(note: String) {
    #expect(SignedNote(Array(note.utf8)) == nil)
  }

  @Test func `is UTF-8, and bounded`() {
    let line = "\n" + signatureLine + "\n"
    #expect(SignedNote([0xFF, 0x0A] + Array(line.utf8)) == nil)
    let many = text + "\n" + String(repeating: signatureLine + "\n", count: 101)
    #expect(SignedNote(Array(many.utf8)) == nil)
    let few = text + "\n" + String(repeating: signatureLine + "\n", count: 16)
    #expect(SignedNote(Array(few.utf8))?.signatures.count == 16)
    let long = String(repeating: "x", count: SignedNote.byteLimit) + "\n" + line
    #expect(SignedNote(Array(long.utf8)) == nil)
  }

  @Test(arguments: [
    "", "PeterNeumann", "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    "PeterNeumann+C74F20A3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    "OtherName+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    "PeterNeumann+c74f20a3+Ahpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW\n",
    "PeterNeumann+c74f20a3+AQ==", "PeterNeumann+c74f20a3+", "++",
  ])
  func `has keys in one text form`(key: String) {
    #expect(NoteVerifier(key) == nil)
    #expect(NoteSigner("PRIVATE+KEY+" + key) == nil)
  }

  @Test func `tells an id that is another one from what is no key`() {
    for wrong in ["PeterNeumann+c74f20a4", "peterNeumann+c74f20a3"] {
      let key = verifierText.replacing("PeterNeumann+c74f20a3", with: wrong)
      #expect(NoteVerifier(key) == nil)
      #expect(NoteVerifier.hasForm(key))
    }
    #expect(!NoteVerifier.hasForm("PeterNeumann+c74f20a3+AQ=="))
  }

  @Test func `has keys whose names can't be mistaken`() {
    for name in ["", "a b", "a+b", "a\u{A0}b", "a\nb", "a\u{7F}"] {
      #expect(NoteSigner.make(name: name) == nil)
    }
    #expect(NoteSigner.make(name: "example.com/jejak/1")?.verifier.name == "example.com/jejak/1")
  }
}
