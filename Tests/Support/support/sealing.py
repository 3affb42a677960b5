"""Master keys, users' keys and sealed payloads, a second time, in Python.

Written from the description in docs/decisions/0010-sealing.md, with PyNaCl's XChaCha20-Poly1305.
"""

import base64
import os
import struct
import uuid
from pathlib import Path

from nacl.bindings import (
    crypto_aead_xchacha20poly1305_ietf_decrypt as decrypt,
)
from nacl.bindings import (
    crypto_aead_xchacha20poly1305_ietf_encrypt as encrypt,
)
from nacl.exceptions import CryptoError

from . import processes

FORM = b"\x01"
KEY_OF = "select master_key, wrapped_key from user_keys where user_id = %s"
# What opening a payload takes besides the keys, in this order.
PLACE = "user_id::text, stream, version, type, schema, payload"
_default = None


def key_file():
    """The key file of the services that are told no other; one for all tests."""
    global _default
    if _default is None:
        _default = processes.short_directory() / "master-keys"
        write_keys(_default, {1: os.urandom(32)})
    return _default


def write_keys(path, keys):
    """Writes a key file as `jejak key generate` does."""
    text = "".join(
        f"{number} {base64.urlsafe_b64encode(key).decode().rstrip('=')}\n"
        for number, key in keys.items())
    Path(path).touch(mode=0o600)
    Path(path).write_text(text)
    return path


def read_keys(path=None):
    """The keys of a file by their numbers."""
    keys = {}
    for line in Path(path or key_file()).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            number, key = line.split()
            keys[int(number)] = base64.urlsafe_b64decode(key + "=")
            assert len(keys[int(number)]) == 32
    return keys


def seal(key, text, binding):
    nonce = os.urandom(24)
    return nonce + encrypt(text, binding, nonce, key)


def unseal(key, sealed, binding):
    return decrypt(sealed[24:], binding, sealed[:24], key)


def user_binding(number, user):
    return b"jejak.userkey.v1" + struct.pack(">i", number) + uuid.UUID(user).bytes


def payload_binding(user, stream, version, kind, schema):
    return (b"jejak.payload.v1" + uuid.UUID(user).bytes
            + struct.pack(">hih", stream, version, schema) + kind.encode())


class Opener:
    """Opens the payloads of a database, whose users' keys it reads once."""

    def __init__(self, database, path=None):
        self.database, self.master, self.keys = database, read_keys(path), {}

    def key(self, user):
        if user not in self.keys:
            (number, wrapped), = self.database.rows(KEY_OF, user)
            self.keys[user] = unseal(self.master[number], wrapped, user_binding(number, user))
        return self.keys[user]

    def open(self, user, stream, version, kind, schema, payload):
        """The text of a payload; nothing where it is gone."""
        if payload is None:
            return None
        stored = bytes(payload)
        assert stored[:1] == FORM, stored[:1]
        return unseal(self.key(user), stored[1:],
                      payload_binding(user, stream, version, kind, schema))

    def seal(self, user, stream, version, kind, schema, text):
        """A payload as the service would store it."""
        if isinstance(text, str):
            text = text.encode()
        return FORM + seal(self.key(user), text,
                           payload_binding(user, stream, version, kind, schema))

    def texts(self, condition="true", *values):
        """The texts of the events that a condition names, in the order of the log."""
        rows = self.database.rows(
            f"select {PLACE} from events where {condition} order by position", *values)
        return [self.open(*row) for row in rows]

    def moved(self, user, stream, version, kind, schema, payload, to):
        """The payload of an event, sealed for another version of the same stream."""
        text = self.open(user, stream, version, kind, schema, payload)
        return self.seal(user, stream, to, kind, schema, text)


def opens(opener, *place):
    """Whether a payload opens at that place."""
    try:
        opener.open(*place)
    except CryptoError:
        return False
    return True


def bulk(connection, opener, user, first, count, kind, text):
    """A temporary table `sealed (n, payload)` with payloads for versions of the access stream.

    Their texts are all the same; the versions begin with `first`, `n` with 1.
    """
    connection.execute("create temporary table sealed (n integer primary key, payload bytea)")
    with connection.cursor().copy("copy sealed from stdin with (format binary)") as copy:
        copy.set_types(["int4", "bytea"])
        for number in range(count):
            copy.write_row((number + 1, opener.seal(user, 2, first + number, kind, 1, text)))
