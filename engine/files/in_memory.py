"""Container files as bytes, for a caller who stores them himself; read back through the same gates."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from engine.core.errors import DTypeError
from engine.files import guarded
from engine.files.checked import Container, Expected, check_bytes, decode
from engine.files.container import container_parts
from engine.files.installation import installation_key


def container_bytes(kind: str, version: int, tree: Any) -> bytes:
    """A whole container file. Raises DTypeError, ArgumentError: the tree holds what can't be saved."""
    return b"".join(container_parts(kind, version, tree))


def read_container_bytes(data: bytes, kind: str | tuple[str, ...], max_version: int, shown: str) -> Container:
    """What the bytes of a container file hold; ``shown`` is what messages call them.

    Bytes that this installation did not write are first read by a child process, from a temporary file.

    Raises:
        DTypeError: no bytes.
        FormatError: damaged, truncated, foreign, of another kind, or of a version above ``max_version``.
    """
    if not isinstance(data, bytes):
        raise DTypeError(f"{shown}: takes bytes: got {type(data).__name__}; read them with load_from_file()")
    expected = Expected(Path(shown), kind, max_version)
    block = check_bytes(data, expected.path)
    if not block.is_signed_with(installation_key()):
        with tempfile.TemporaryDirectory(prefix="model-studio-") as folder:
            stored = Path(folder) / "data"
            stored.write_bytes(data)
            guarded.check([guarded.Suspect(expected, block, len(data), stored)])
    return decode(expected, block, data)
