"""Files of other programs' formats, which a child process with limits reads before this process does.

The bytes are read once here, and again in the child, which compares their SHA-256.
``engine.files.untrusted.foreign_readers`` lists what the child does with each kind.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from engine.files.native.checked import opened

PADDLE_PROGRAM, PADDLE_WEIGHTS, PADDLE_INFORMATION = "paddle.program", "paddle.weights", "paddle.information"
WEIGHTS = "weights"


@dataclass(frozen=True)
class ForeignFile:
    """A file that was read: its path, its kind and its bytes."""

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
