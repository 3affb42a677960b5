import MerkleTree
import Sodium
import Testing

/// The text of the example of C2SP tlog-checkpoint.
private let example = """
  example.com/behind-the-sofa
  20852163
  CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

  """

@Suite("A checkpoint")
struct CheckpointTests {
  @Test func `is read and written as the standard has it`() throws {
    let checkpoint = try #require(Checkpoint(text: example))
    #expect(checkpoint.origin == "example.com/behind-the-sofa")
    #expect(checkpoint.size == 20_852_163)
    #expect(Base64.encode(checkpoint.root.bytes) == "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=")
    #expect(checkpoint.text == example)
    let extended = example + "one more\n"
    #expect(Checkpoint(text: extended)?.extensions == ["one more"])
    #expect(Checkpoint(text: extended)?.text == extended)
  }

  @Test(arguments: [
    "", "\n", "o\n1\n", "o\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=",
    "o\n01\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
    "o\n-1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
    "o\n+1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
    "o\n9223372036854775808\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
    "\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n", "o\n1\nCsUYapGGPo4=\n",
    "o\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I\n",
    "o\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n",
  ])
  func `is nothing else`(text: String) {
    #expect(Checkpoint(text: text) == nil)
  }

  @Test func `counts under the key of its origin`() throws {
    let signer = try #require(NoteSigner.make(name: "example.com/log"))
    let checkpoint = Checkpoint(origin: "example.com/log", size: 0, root: .emptyTree)
    let note = checkpoint.signed(by: signer)
    #expect(Checkpoint(note, by: signer.verifier) == checkpoint)
    let other = try #require(NoteSigner.make(name: "example.com/log"))
    #expect(Checkpoint(note, by: other.verifier) == nil)
    let foreign = Checkpoint(origin: "example.com/other", size: 0, root: .emptyTree)
    #expect(Checkpoint(foreign.signed(by: signer), by: signer.verifier) == nil)
  }
}

@Suite("A proof as a file")
struct TreeProofTests {
  private func proof(extra: [UInt8]?) throws -> (TreeProof, NoteSigner) {
    let tree = GrownTree(leaves(300))
    let signer = try #require(NoteSigner.make(name: "example.com/log"))
    let inclusion = try #require(InclusionProof(index: 17, size: 300, tiles: tree.tiles))
    let checkpoint = Checkpoint(origin: "example.com/log", size: 300, root: tree.edge.root)
    let proof = TreeProof(
      extra: extra,
      index: 17,
      hashes: inclusion.hashes,
      checkpoint: checkpoint.signed(by: signer)
    )
    return (proof, signer)
  }

  @Test(arguments: [nil, [], Array("entry 17".utf8)] as [[UInt8]?])
  func `shows that an entry is in the log`(extra: [UInt8]?) throws {
    let (proof, signer) = try proof(extra: extra)
    let text = proof.description
    #expect(text.hasPrefix("c2sp.org/tlog-proof@v1\n" + (extra == nil ? "index 17\n" : "extra ")))
    let read = try #require(TreeProof(Array(text.utf8)))
    #expect(read == proof)
    let checkpoint = try read.verify(entry: Array("entry 17".utf8), by: signer.verifier)
    #expect(checkpoint.size == 300)
  }

  @Test func `says what is wrong with it`() throws {
    let (proof, signer) = try proof(extra: nil)
    let entry = Array("entry 17".utf8)
    #expect(throws: TreeProof.Flaw.inclusion) {
      try proof.verify(entry: Array("entry 18".utf8), by: signer.verifier)
    }
    let other = try #require(NoteSigner.make(name: "example.com/log"))
    #expect(throws: TreeProof.Flaw.checkpoint) {
      try proof.verify(entry: entry, by: other.verifier)
    }
    let elsewhere = TreeProof(
      extra: nil,
      index: 18,
      hashes: proof.hashes,
      checkpoint: proof.checkpoint
    )
    #expect(throws: TreeProof.Flaw.inclusion) {
      try elsewhere.verify(entry: entry, by: signer.verifier)
    }
  }

  @Test func `is nothing else`() throws {
    let text = try proof(extra: [1, 2, 3]).0.description
    let changes = [
      ("tlog-proof@v1", "tlog-proof@v2"), ("extra AQID", "extra AQI"), ("extra AQID\n", "extra\n"),
      ("index 17", "index 017"), ("index 17", "index -1"), ("index 17", "index"),
      ("index 17\n", "index 17\nAAAA\n"), ("index 17\n", ""), ("\n\n", "\n"),
    ]
    for (old, new) in changes {
      let parts = text.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
      try #require(parts.count == 2)
      #expect(TreeProof(Array((parts[0] + new + parts[1]).utf8)) == nil, "\(old) \(new)")
    }
    let hash = Base64.encode([UInt8](repeating: 7, count: 32)) + "\n"
    let long = "c2sp.org/tlog-proof@v1\nindex 0\n" + String(repeating: hash, count: 65)
    #expect(TreeProof(Array((long + "\no\n").utf8)) == nil)
    #expect(TreeProof([]) == nil)
  }
}
