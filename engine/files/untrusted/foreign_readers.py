"""What the child process does with a file of another program's format, by its kind.

A function imports what it needs itself: the child reads files of one kind.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.core.errors import FormatError
from engine.files.untrusted.foreign import (
    PADDLE_INFORMATION,
    PADDLE_PROGRAM,
    PADDLE_WEIGHTS,
    WEIGHTS,
    load_foreign,
)


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


READERS: dict[str, Callable[[bytes, str], None]] = {
    PADDLE_PROGRAM: _paddle_program,
    PADDLE_WEIGHTS: _paddle_weights,
    PADDLE_INFORMATION: _paddle_information,
}
