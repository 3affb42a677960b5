"""A second implementation of the log's tree, from the standards alone.

RFC 6962 and RFC 9162 section 2.1, and C2SP signed-note, tlog-checkpoint, tlog-tiles and tlog-proof;
nothing of the service is used but its HTTP interface and the columns of its events.
"""

import base64
import hashlib
import struct
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

HASH, WIDTH = 32, 256
ENTRY, DETAILS_DIGEST = 137, slice(73, 105)
ED25519 = b"\x01"
SIGNATURE_MARK = "\u2014 "
ENTRY_COLUMNS = """
position, (extract(epoch from recorded_at) * 1000000)::bigint, user_id, event_id, stream, version,
schema, actor_kind, actor_id, type, request_id, trace_id, changed, payload_sha256
"""


def sha256(data):
    return hashlib.sha256(data).digest()


def leaf_hash(entry):
    return sha256(b"\x00" + entry)


def node_hash(left, right):
    return sha256(b"\x01" + left + right)


def _split(count):
    """The largest power of two smaller than `count`."""
    return 1 << (count - 1).bit_length() - 1


def root(leaves):
    """MTH over leaf hashes, or over hashes of equal subtrees."""
    if not leaves:
        return sha256(b"")
    if len(leaves) == 1:
        return leaves[0]
    middle = _split(len(leaves))
    return node_hash(root(leaves[:middle]), root(leaves[middle:]))


def check_inclusion(index, size, leaf, proof, expected):
    """RFC 9162 section 2.1.3.2."""
    if not 0 <= index < size:
        return False
    fn, sn, computed = index, size - 1, leaf
    for step in proof:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            computed = node_hash(step, computed)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            computed = node_hash(computed, step)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and computed == expected


def check_consistency(old, new, old_root, new_root, proof):
    """RFC 9162 section 2.1.4.2, and its cases without a proof."""
    if old == new:
        return not proof and old_root == new_root
    if old == 0:
        return not proof and old_root == sha256(b"")
    path = list(proof)
    if old & (old - 1) == 0:
        path.insert(0, old_root)
    if not path:
        return False
    fn, sn = old - 1, new - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    first = second = path[0]
    for step in path[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            first, second = node_hash(step, first), node_hash(step, second)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            second = node_hash(second, step)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and first == old_root and second == new_root


class Verifier(NamedTuple):
    """A public key of a signed note."""

    name: str
    key_id: bytes
    key: bytes

    @classmethod
    def parse(cls, text):
        name, key_id, data = text.split("+", 2)
        data = base64.b64decode(data, validate=True)
        assert data[:1] == ED25519 and len(data) == 1 + 32
        digest = sha256(name.encode() + b"\n" + data)[:4]
        assert digest.hex() == key_id, "the key's id is not that of the key"
        return cls(name, digest, data[1:])


class Checkpoint(NamedTuple):
    origin: str
    size: int
    root: bytes


def open_note(note, verifier):
    """The text of a note that the key has signed; raises where it has not."""
    text, _, signatures = note.rpartition("\n\n")
    text += "\n"
    assert signatures.endswith("\n")
    for line in signatures.splitlines():
        assert line.startswith(SIGNATURE_MARK)
        name, encoded = line.removeprefix(SIGNATURE_MARK).split(" ")
        signature = base64.b64decode(encoded, validate=True)
        if (name, signature[:4]) == (verifier.name, verifier.key_id):
            key = Ed25519PublicKey.from_public_bytes(verifier.key)
            key.verify(signature[4:], text.encode())
            return text
    raise InvalidSignature("the key has not signed")


def open_checkpoint(note, verifier):
    """The checkpoint in a note that the key has signed, of the origin of that name."""
    origin, size, encoded, *rest = open_note(note, verifier).split("\n")
    assert origin == verifier.name and rest == [""]
    assert size == str(int(size))
    hash = base64.b64decode(encoded, validate=True)
    assert len(hash) == HASH
    return Checkpoint(origin, int(size), hash)


class Details(NamedTuple):
    """The parts of an event's header that have no fixed length."""

    type: str
    request: str | None
    trace: str | None
    changed: list

    @classmethod
    def parse(cls, data):
        place = 0

        def number():
            nonlocal place
            value, = struct.unpack_from(">I", data, place)
            place += 4
            return value

        def text():
            nonlocal place
            length = number()
            if length == 0xFFFFFFFF:
                return None
            assert place + length <= len(data)
            place += length
            return data[place - length:place].decode()

        texts = [text(), text(), text()]
        changed = [text() for _ in range(number())]
        assert place == len(data) and texts[0] is not None and None not in changed
        return cls(*texts, changed)


class Proof(NamedTuple):
    extra: bytes | None
    index: int
    hashes: list
    note: str

    @classmethod
    def parse(cls, text):
        head, _, note = text.partition("\n\n")
        title, *lines = head.split("\n")
        assert title == "c2sp.org/tlog-proof@v1"
        extra = None
        if lines[0].startswith("extra "):
            extra = base64.b64decode(lines.pop(0).removeprefix("extra "), validate=True)
        index = lines.pop(0)
        assert index.startswith("index ")
        hashes = [base64.b64decode(line, validate=True) for line in lines]
        assert all(len(hash) == HASH for hash in hashes)
        return cls(extra, int(index.removeprefix("index ")), hashes, note)

    @property
    def entry(self):
        return self.extra[:ENTRY]

    @property
    def details(self):
        """What stands behind the entry, whose digest is in it."""
        return Details.parse(self.extra[ENTRY:])

    def check(self, verifier):
        """The checkpoint, if the entry that the proof brings is in its tree, with these details."""
        checkpoint = open_checkpoint(self.note, verifier)
        assert sha256(self.extra[ENTRY:]) == self.entry[DETAILS_DIGEST]
        leaf = leaf_hash(self.entry)
        assert check_inclusion(self.index, checkpoint.size, leaf, self.hashes, checkpoint.root)
        return checkpoint


def tile_path(level, index, width=WIDTH):
    digits = f"{index:03d}"
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    groups = [digits[start:start + 3] for start in range(0, len(digits), 3)]
    path = "/".join([f"x{group}" for group in groups[:-1]] + groups[-1:])
    return f"{level}/{path}" + ("" if width == WIDTH else f".p/{width}")


def tiles_of(size):
    """Level, index and width of every tile of a tree."""
    level = 0
    while size >> 8 * level:
        full, rest = divmod(size >> 8 * level, WIDTH)
        yield from ((level, index, WIDTH) for index in range(full))
        if rest:
            yield level, full, rest
        level += 1


class Tree:
    """A tree as a client gathers it: all tiles of a size, each checked against the one below."""

    def __init__(self, fetch, size):
        self.size, self.levels = size, []
        for level, index, width in tiles_of(size):
            data = fetch(level, index, width)
            assert len(data) == width * HASH, (level, index, width, len(data))
            if level == len(self.levels):
                self.levels.append([])
            self.levels[level] += [data[at:at + HASH] for at in range(0, len(data), HASH)]
        for level, hashes in enumerate(self.levels[1:]):
            below = self.levels[level]
            for index, hash in enumerate(hashes):
                assert hash == root(below[index * WIDTH:(index + 1) * WIDTH]), (level + 1, index)

    @property
    def leaves(self):
        return self.levels[0] if self.levels else []

    def range(self, start, end):
        """MTH of the leaves from `start` to `end`, by tiles where whole ones lie between."""
        for level in range(len(self.levels) - 1, 0, -1):
            unit = WIDTH**level
            if end - start >= unit and start % unit == 0 and (end - start) % unit == 0:
                return root(self.levels[level][start // unit:end // unit])
        if end - start <= WIDTH:
            return root(self.leaves[start:end])
        middle = start + _split(end - start)
        return node_hash(self.range(start, middle), self.range(middle, end))

    def root(self, size=None):
        size = self.size if size is None else size
        return self.range(0, size) if size else sha256(b"")

    def inclusion(self, index, size=None):
        """PATH of RFC 6962 section 2.1.1."""
        start, end, path = 0, self.size if size is None else size, []
        while end - start > 1:
            middle = start + _split(end - start)
            if index < middle:
                path.append(self.range(middle, end))
                end = middle
            else:
                path.append(self.range(start, middle))
                start = middle
        return path[::-1]

    def consistency(self, old, new):
        """PROOF of RFC 6962 section 2.1.2."""
        if old in (0, new):
            return []
        start, end, path = 0, new, []
        while end != old:
            middle = start + _split(end - start)
            if old <= middle:
                path.append(self.range(middle, end))
                end = middle
            else:
                path.append(self.range(start, middle))
                start = middle
        if start:
            path.append(self.range(start, end))
        return path[::-1]


def _text(value):
    if value is None:
        return b"\xff\xff\xff\xff"
    return struct.pack(">I", len(value.encode())) + value.encode()


def entry(row):
    """The entry of an event, out of its `ENTRY_COLUMNS`."""
    (position, recorded_at, user, event, stream, version, schema, kind, actor,
     type, request, trace, changed, payload) = row
    details = _text(type) + _text(request) + _text(trace) + struct.pack(">I", len(changed))
    details += b"".join(map(_text, changed))
    return (struct.pack(">Bqq", 1, position, recorded_at) + user.bytes + event.bytes
            + struct.pack(">BihB", stream, version, schema, kind)
            + (actor.bytes if actor else bytes(16)) + sha256(details) + bytes(payload))


def entries(database):
    """The entries of all events, in the order of the log."""
    rows = database.rows(f"select {ENTRY_COLUMNS} from events order by position")
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    return [entry(row) for row in rows]


class Log:
    """What anybody can fetch of a service's log."""

    def __init__(self, client):
        self.client = client

    def _get(self, path):
        response = self.client.get(f"/v1/log/{path}")
        assert response.status_code == 200, (path, response.status_code, response.text[:300])
        return response

    def verifier(self):
        """The key in use, the first of those that are given."""
        return self.verifiers()[0]

    def verifiers(self):
        text = self._get("key").text
        assert text.endswith("\n")
        return [Verifier.parse(line) for line in text.splitlines()]

    def note(self):
        return self._get("checkpoint").text

    def checkpoint(self):
        return open_checkpoint(self.note(), self.verifier())

    def tile(self, level, index, width=WIDTH):
        return self._get("tile/" + tile_path(level, index, width)).content

    def tree(self, size):
        return Tree(self.tile, size)


def signed_up_to(database):
    """How many events the last checkpoint of the present origin speaks for; none: -1."""
    return database.value("select coalesce(max(size), -1) from checkpoints"
                          " where origin = (select max(origin) from log_origins)")
