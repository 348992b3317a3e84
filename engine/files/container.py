"""The container of every native file: a user block with hashes, then HDF5; checked before libhdf5 sees a
byte.

Reading goes through these gates, and each refusal is a FormatError that names the file: the user block's own
checksum, the container version, the length, the SHA-256 of everything else (:mod:`engine.files.checked`),
then, unless this installation signed the file, a child process that reads it to the end
(:mod:`engine.files.guarded`), and last the structure (:mod:`engine.files.image`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from engine.files import guarded, userblock
from engine.files.atomic import atomic_write
from engine.files.checked import Container, Expected, decode, load_checked
from engine.files.image import make_image
from engine.files.installation import installation_key
from engine.files.userblock import NO_SAVE_ID, make_user_block


def write_container(path: str | os.PathLike[str], kind: str, version: int, tree: Any) -> None:
    """Writes ``tree`` (dicts, lists, tuples, scalars, arrays) to ``path`` atomically.

    Raises:
        SaveError: the file could not be written; what was there before is unchanged.
        DTypeError, ArgumentError: the tree holds what can't be saved.
    """
    parts = container_parts(kind, version, tree)
    atomic_write(path, lambda file: write_parts(file, parts))


def container_parts(
    kind: str, version: int, tree: Any, save_id: bytes = NO_SAVE_ID
) -> list[bytes | memoryview]:
    """The bytes of a container file, signed by this installation, as parts to be written one after the
    other."""
    payload = make_image(kind, version, tree)[userblock.SIZE :]
    return [make_user_block(payload, save_id, installation_key()), payload]


def write_parts(file: BinaryIO, parts: Sequence[bytes | memoryview]) -> None:
    """Writes the parts one after the other."""
    for part in parts:
        file.write(part)


def read_container(path: str | os.PathLike[str], kind: str, max_version: int) -> Any:
    """The tree that ``path`` holds; every value has the type that it was written with.

    Raises:
        DataError: there is no such file, or it can't be read.
        FormatError: damaged, truncated, foreign, of another kind, or of a version above ``max_version``.
    """
    return read_containers([Expected(Path(path), kind, max_version)])[0].tree


def read_containers(expected: Sequence[Expected]) -> list[Container]:
    """Reads several files; those that this installation did not write go through one child process together.

    Raises: as :func:`read_container`, for the first file that is refused.
    """
    loaded = [load_checked(item.path) for item in expected]
    key = installation_key()
    foreign = [
        guarded.Suspect(item, block, len(data))
        for item, (block, data) in zip(expected, loaded, strict=True)
        if not block.is_signed_with(key)
    ]
    if foreign:
        guarded.check(foreign)
    return [decode(item, block, data) for item, (block, data) in zip(expected, loaded, strict=True)]


def verify_container(path: str | os.PathLike[str]) -> None:
    """Raises FormatError or DataError unless the hashes of the file are right; does not parse the file."""
    load_checked(Path(path))
