"""Container files as bytes, for callers that store them themselves; read with the same checks."""

from __future__ import annotations

from pathlib import Path

from engine.core.errors import DTypeError
from engine.files.native.checked import Container, Expected, check_bytes, decode
from engine.files.native.container import container_parts
from engine.files.native.installation import installation_key
from engine.files.scratch import temporary_folder
from engine.files.untrusted import guarded


def container_bytes(kind: str, version: int, tree: object) -> bytes:
    """A whole container file. Raises DTypeError or ArgumentError for a value that can't be saved."""
    return b"".join(container_parts(kind, version, tree))


def read_container_bytes(data: bytes, kind: str | tuple[str, ...], max_version: int, shown: str) -> Container:
    """The content of a container file given as bytes; ``shown`` names it in messages.

    A child process first reads bytes that this installation did not write, from a temporary file.

    Raises:
        DTypeError: ``data`` is not of the type bytes.
        FormatError: damaged, truncated, foreign, of another kind, or of a version above ``max_version``.
        SaveError: the temporary file can't be written.
    """
    if not isinstance(data, bytes):
        raise DTypeError(
            f"{shown}: the data must be bytes: got {type(data).__name__}; read them with load_from_file()"
        )
    expected = Expected(Path(shown), kind, max_version)
    block = check_bytes(data, expected.path)
    own = block.is_signed_with(installation_key())
    if not own:
        with temporary_folder(shown) as folder:
            stored = folder / "data"
            stored.write_bytes(data)
            guarded.check([guarded.Suspect(expected, block, len(data), stored)])
    return decode(expected, block, data, own)
