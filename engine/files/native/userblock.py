"""The first 512 bytes of every native file: magic, lengths, SHA-256, save id and this installation's tag.

Layout, little-endian, as offset, type and content; the rest up to byte 480 is zero::

    0    8s   magic
    8    u32  container version
    12   u32  length of this block (512)
    16   u64  length of the payload, which is everything after this block
    24   32s  SHA-256 of the payload
    56   16s  save id shared by the files of one save, or zeros
    72   32s  HMAC-SHA256 of bytes 0 to 72 under the installation's key, or zeros
    104  64s  kind of the tree as ASCII padded with zeros; zeros in files of version 0.1
    480  32s  SHA-256 of bytes 0 to 480

The last field keeps its place in every version, so that a newer file can be distinguished from a damaged one.
The kind only serves to recognize a file before it is read: readers compare the kind inside the payload.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import FormatError, NewerVersionError

MAGIC = b"\x89MSF\r\n\x1a\n"
VERSION = 1
SIZE = 512
NO_SAVE_ID = bytes(16)

_FIELDS = struct.Struct("<8sIIQ32s16s")
_TAG_END = _FIELDS.size + 32
_KIND_LENGTH = 64
_DIGEST_START = SIZE - 32
_NO_TAG = bytes(32)

# How files of other programs begin, what they are, and what to do with them.
_OTHER_FORMATS = (
    (
        b"\x89HDF\r\n\x1a\n",
        "it is an HDF5 file that another program wrote",
        "read it with h5py and save what you need with Model Studio",
    ),
    (
        b"\x80",
        "it looks like a Python pickle (such as paddle.save and torch.save write)",
        "a pickle can run code and is not opened here; weights in one are read by load and --start-from",
    ),
    (
        b"PK\x03\x04",
        "it is a ZIP archive (such as torch.save and numpy.savez write)",
        "give weights to load or --start-from, other files save again with Model Studio",
    ),
    (b"version https://git-lfs", "it is a Git LFS pointer, not the file itself", "run `git lfs pull`"),
)


@dataclass(frozen=True)
class UserBlock:
    """The fields of the first 512 bytes; ``tag`` is all zeros if no installation signed the file."""

    payload_length: int
    digest: bytes
    save_id: bytes
    tag: bytes

    def is_signed_with(self, key: bytes | None) -> bool:
        """True if the tag was computed with ``key``, that is, if this installation wrote the file."""
        return key is not None and hmac.compare_digest(self.tag, _tag(_fields(self), key))


def _fields(block: UserBlock) -> bytes:
    return _FIELDS.pack(MAGIC, VERSION, SIZE, block.payload_length, block.digest, block.save_id)


def _tag(fields: bytes, key: bytes) -> bytes:
    return hmac.new(key, fields, hashlib.sha256).digest()


def make_user_block(payload: bytes | memoryview, save_id: bytes, key: bytes | None, kind: str = "") -> bytes:
    """The 512 bytes of the user block for ``payload``, signed with ``key`` unless that is None."""
    view = memoryview(payload)
    fields = _FIELDS.pack(MAGIC, VERSION, SIZE, view.nbytes, hashlib.sha256(view).digest(), save_id)
    tag = _NO_TAG if key is None else _tag(fields, key)
    named = kind.encode("ascii")[:_KIND_LENGTH].ljust(_KIND_LENGTH, b"\0")
    head = (fields + tag + named).ljust(_DIGEST_START, b"\0")
    return head + hashlib.sha256(head).digest()


def parse_user_block(head: bytes, file_length: int, path: Path) -> UserBlock:
    """Parse and check the first 512 bytes of a file that is ``file_length`` bytes long.

    Raises:
        FormatError: foreign, damaged or truncated. NewerVersionError: of a newer container version.
    """
    if head[: len(MAGIC)] != MAGIC:
        raise _foreign(head, file_length, path)
    if len(head) < SIZE:
        raise FormatError(
            f"{path}: the file is truncated: {file_length} bytes of at least {SIZE}; {_GET_AGAIN}"
        )
    head = head[:SIZE]
    if not hmac.compare_digest(hashlib.sha256(head[:_DIGEST_START]).digest(), head[_DIGEST_START:]):
        raise FormatError(
            f"{path}: the file is damaged: the checksum of its first {SIZE} bytes does not "
            f"match; {_GET_AGAIN}"
        )
    _, version, size, length, digest, save_id = _FIELDS.unpack_from(head)
    if version > VERSION:
        raise NewerVersionError(
            f"{path}: written by a newer version of Model Studio: container version {version}, "
            f"this build reads up to {VERSION}; update Model Studio"
        )
    if version != VERSION or size != SIZE:
        raise FormatError(
            f"{path}: not a valid Model Studio file: container version {version}, first block "
            f"of {size} bytes; {_GET_AGAIN}"
        )
    if length != file_length - SIZE:
        what = "truncated" if length > file_length - SIZE else "damaged"
        raise FormatError(
            f"{path}: the file is {what}: {file_length} bytes where {length + SIZE} were "
            f"written; {_GET_AGAIN}"
        )
    return UserBlock(length, digest, save_id, head[_FIELDS.size : _TAG_END])


def stated_kind(head: bytes) -> str:
    """The kind that the first bytes of a native file state; empty where they state none."""
    if len(head) < SIZE or not head.startswith(MAGIC):
        return ""
    return head[_TAG_END : _TAG_END + _KIND_LENGTH].rstrip(b"\0").decode("ascii", "replace")


def stated_length(data: bytes) -> int:
    """The length of the whole file that begins ``data``, as its head says; all of ``data`` without a head."""
    if len(data) < SIZE or not data.startswith(MAGIC):
        return len(data)
    length: int = _FIELDS.unpack_from(data)[3]
    return SIZE + length


def check_payload(block: UserBlock, payload: bytes | memoryview, path: Path) -> None:
    """Raise FormatError unless the payload has the digest in the user block."""
    digest = hashlib.sha256(payload).digest()
    if not hmac.compare_digest(digest, block.digest):
        raise FormatError(
            f"{path}: the file is damaged: its SHA-256 is {digest.hex()[:12]}..., written was "
            f"{block.digest.hex()[:12]}...; {_GET_AGAIN}"
        )


_GET_AGAIN = "copy it again from where it came, or use an older save"


def _foreign(head: bytes, file_length: int, path: Path) -> FormatError:
    if file_length == 0:
        return FormatError(f"{path}: the file is empty: 0 bytes; {_GET_AGAIN}")
    for start, what, remedy in _OTHER_FORMATS:
        if head.startswith(start):
            return FormatError(f"{path}: not a Model Studio file: {what}; {remedy}")
    return FormatError(
        f"{path}: not a Model Studio file: it begins with {bytes(head[:8])!r}; "
        "choose a file that Model Studio saved"
    )
