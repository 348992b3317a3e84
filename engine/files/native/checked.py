"""Reads a file's bytes, checks their hashes and parses them; shared by parent and guarded child."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from engine.core.errors import AbsentError, DataError, FormatError, NewerVersionError
from engine.files.native import userblock
from engine.files.native.userblock import UserBlock, check_payload, parse_user_block
from engine.files.reading import read_error
from resources.regular_files import NotRegularError, open_regular


@dataclass(frozen=True)
class Expected:
    """A file to be read: its path, the kind or kinds that it may be, and the newest version known to us."""

    path: Path
    kind: str | tuple[str, ...]
    max_version: int


@dataclass(frozen=True)
class Container:
    """A file that was read: its kind and version, the product that wrote it, its save id and its tree.

    ``tree`` holds plain values (:data:`engine.files.plain.Plain`) of any structure; the reader of the kind
    checks the structure. ``own`` says that this installation wrote the file.
    """

    kind: str
    version: int
    product: str
    save_id: bytes
    tree: Any
    own: bool


def load_checked(path: Path) -> tuple[UserBlock, bytes]:
    """The user block and all bytes of a file, after a check of its hashes.

    The bytes are read once, so the bytes that were hashed are the bytes that are parsed, even if another
    program writes to the file meanwhile.

    Raises:
        DataError: there is no such file, or it can't be read.
        FormatError: damaged, truncated or foreign.
    """
    with opened(path) as (file, length):
        block = parse_user_block(file.read(userblock.SIZE), length, path)
        file.seek(0)
        try:
            data = file.read(length)
        except MemoryError as cause:
            error = DataError(
                f"{path}: the file does not fit into memory: {length / 1e6:.0f} MB; "
                "close other programs or use a machine with more memory"
            )
            error.errno, error.filename = errno.ENOMEM, str(path)
            raise error from cause
    if len(data) != length or parse_user_block(data[: userblock.SIZE], length, path) != block:
        raise FormatError(
            f"{path}: the file changed while it was read: {len(data)} of {length} bytes; read it again"
        )
    check_payload(block, memoryview(data)[userblock.SIZE :], path)
    return block, data


def check_bytes(data: bytes, shown: Path) -> UserBlock:
    """The user block of a file given as bytes, after a check of its hashes; ``shown`` names it in messages.

    Raises:
        FormatError: damaged, truncated or foreign.
    """
    block = parse_user_block(data[: userblock.SIZE], len(data), shown)
    check_payload(block, memoryview(data)[userblock.SIZE :], shown)
    return block


def read_user_block(path: Path) -> UserBlock:
    """The user block alone, checked against its own checksum and the file's length, without the payload.

    Raises: as :func:`load_checked`.
    """
    with opened(path) as (file, length):
        return parse_user_block(file.read(userblock.SIZE), length, path)


def decode(
    expected: Expected, block: UserBlock, data: bytes, own: bool = False, places: bool = False
) -> Container:
    """Parse bytes whose hashes were checked; ``own`` says that this installation signed them. With ``places``
    the tree says where its arrays are, as :class:`engine.files.native.image.ArrayPlace`.

    Raises:
        FormatError: of another kind, of an unknown version, or of a structure that we do not write.
    """
    from engine.files.native.image import (  # HDF5 takes 12 MB, which a window without runs spares
        ImageError,
        read_image,
    )

    path = expected.path
    try:
        image = read_image(data, places)
        kinds = (expected.kind,) if isinstance(expected.kind, str) else expected.kind
        if image.kind not in kinds:
            raise FormatError(
                f"{path}: a Model Studio file of another kind: {image.kind!r} where "
                f"{' or '.join(map(repr, kinds))} is needed; choose the right file"
            )
        if not 1 <= image.version <= expected.max_version:
            raise NewerVersionError(
                f"{path}: written by a newer version of Model Studio: {image.kind} version "
                f"{image.version} by {image.product}, this build reads up to "
                f"{expected.max_version}; update Model Studio"
            )
        return Container(image.kind, image.version, image.product, block.save_id, image.tree(), own)
    except ImageError as cause:
        raise FormatError(
            f"{path}: not a valid Model Studio file: {cause}; Model Studio did not write it "
            "like this, get it again from a source that you trust"
        ) from cause


@contextmanager
def opened(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file and return it with its length; refuses pipes and devices without waiting."""
    try:
        with open_regular(path) as file:
            yield file, os.fstat(file.fileno()).st_size
    except NotRegularError as cause:
        raise FormatError(f"{path}: {cause.strerror}; choose a file") from cause
    except FileNotFoundError as cause:
        raise AbsentError(f"{path}: there is no such file; check the name, or save it first") from cause
    except DataError:
        raise
    except OSError as cause:
        raise read_error(path, cause) from cause
