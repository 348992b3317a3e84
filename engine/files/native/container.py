"""The container of every native file: a user block with hashes, then HDF5.

Reading makes these checks in order, and a failed one raises a FormatError that names the file: the user
block's own checksum, the container version, the length and the SHA-256 of the rest
(:mod:`engine.files.native.checked`); unless this installation signed the file, that a child process can read
it to the end (:mod:`engine.files.untrusted.guarded`); and the structure (:mod:`engine.files.native.image`).
libhdf5 sees no byte before the hashes are checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from engine.files.atomic import atomic_write
from engine.files.native import userblock
from engine.files.native.checked import Container, Expected, decode, load_checked, read_user_block
from engine.files.native.installation import installation_key
from engine.files.native.userblock import NO_SAVE_ID, make_user_block
from engine.files.plain import StrPath
from engine.files.untrusted import guarded


def write_container(path: StrPath, kind: str, version: int, tree: object) -> None:
    """Write ``tree`` (dicts, lists, tuples, scalars, arrays) to ``path`` atomically.

    Raises:
        SaveError: the file could not be written; an existing file is unchanged.
        DTypeError, ArgumentError: the tree holds a value that can't be saved.
    """
    parts = container_parts(kind, version, tree)
    atomic_write(path, lambda file: write_parts(file, parts))


def container_parts(
    kind: str, version: int, tree: object, save_id: bytes = NO_SAVE_ID, compress: bool = False
) -> list[bytes | memoryview]:
    """The bytes of a container file, signed by this installation, as consecutive parts. ``compress`` as of
    :func:`engine.files.native.image.make_image`."""
    from engine.files.native.image import make_image  # HDF5 comes with the first file

    payload = make_image(kind, version, tree, compress)[userblock.SIZE :]
    return [make_user_block(payload, save_id, installation_key(), kind), payload]


def write_parts(file: BinaryIO, parts: Sequence[bytes | memoryview]) -> None:
    """Write the parts one after the other."""
    for part in parts:
        file.write(part)


def read_container(path: StrPath, kind: str, max_version: int) -> Any:
    """The tree in ``path``; every value has the type that it was written with.

    Raises:
        DataError: there is no such file, or it can't be read.
        FormatError: damaged, truncated, foreign, of another kind, or of a version above ``max_version``.
    """
    return read_containers([Expected(Path(path), kind, max_version)])[0].tree


def is_own_container(path: StrPath) -> bool:
    """Whether this installation signed the file, so that no child process must check it.

    Raises:
        DataError: there is no such file, or it can't be read.
        FormatError: not a container.
    """
    return read_user_block(Path(path)).is_signed_with(installation_key())


def read_containers(expected: Sequence[Expected]) -> list[Container]:
    """Read several files; one child process checks all that this installation did not write.

    Raises as :func:`read_container`, for the first file that is refused.
    """
    loaded = [load_checked(item.path) for item in expected]
    key = installation_key()
    own = [block.is_signed_with(key) for block, _ in loaded]
    foreign = [
        guarded.Suspect(item, block, len(data))
        for item, (block, data), signed in zip(expected, loaded, own, strict=True)
        if not signed
    ]
    if foreign:
        guarded.check(foreign)
    return [
        decode(item, block, data, signed)
        for item, (block, data), signed in zip(expected, loaded, own, strict=True)
    ]


def verify_container(path: StrPath) -> None:
    """Check the hashes of a file without parsing it. Raises FormatError or DataError if they are wrong."""
    load_checked(Path(path))
