"""Files of other programs' formats, which a child process with limits reads before this process does.

The bytes are read once here, and again in the child, which compares their SHA-256. ``READERS`` lists what the
child does with each kind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import FormatError
from engine.files.checked import opened


@dataclass(frozen=True)
class ForeignFile:
    """A file that was read: its path, its kind (a key of ``READERS``) and its bytes."""

    shown: Path
    kind: str
    data: bytes
    stored: Path | None = None

    @property
    def identity(self) -> tuple[bytes, str, int]:
        """What the verdict of the child depends on."""
        return hashlib.sha256(self.data).digest(), self.kind, 0

    @property
    def length(self) -> int:
        """The number of bytes."""
        return len(self.data)


def load_foreign(path: Path, kind: str) -> ForeignFile:
    """Read the bytes of a file. Raises AbsentError or DataError where it can't be read."""
    with opened(path) as (file, _):
        return ForeignFile(path, kind, file.read())


def read_foreign(kind: str, path: Path, shown: str, digest: bytes) -> None:
    """Read a file to its end, as the parent will. Raises FormatError where it is refused."""
    if kind == WEIGHTS:  # files of many gigabytes, which are read in pieces
        from engine.files.weights.reading import digest_of, parse_weights

        _require_unchanged(digest_of(path), digest, shown)
        parse_weights(path, shown)
        return
    found = load_foreign(path, kind)
    _require_unchanged(found.identity[0], digest, shown)
    READERS[kind](found.data, shown)


def _require_unchanged(found: bytes, digest: bytes, shown: str) -> None:
    if found != digest:
        raise FormatError(f"{shown}: the file changed while it was read; read it again")


def _paddle_program(data: bytes, shown: str) -> None:
    from engine.files.paddle.model import parse_model

    parse_model(data, shown)


def _paddle_weights(data: bytes, shown: str) -> None:
    from engine.files.paddle.lod_tensor import parse_lod_tensors

    parse_lod_tensors(data, None, shown)


def _paddle_information(data: bytes, shown: str) -> None:
    from engine.files.paddle.pickle_arrays import PADDLE
    from engine.files.paddle.pickles import read_pickle

    read_pickle(data, shown, PADDLE)


PADDLE_PROGRAM, PADDLE_WEIGHTS, PADDLE_INFORMATION = "paddle.program", "paddle.weights", "paddle.information"
WEIGHTS = "weights"
READERS: dict[str, Callable[[bytes, str], None]] = {
    PADDLE_PROGRAM: _paddle_program,
    PADDLE_WEIGHTS: _paddle_weights,
    PADDLE_INFORMATION: _paddle_information,
}
