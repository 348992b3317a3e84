"""The file of the page Code as it was read: its text, and what it imports from its folder."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from resources.local_code import MAX_BYTES, CodeTooLarge, LocalCode, read_code
from resources.regular_files import read_regular
from studio.session.code.user_models import text_outline, too_large


class CodeError(ValueError):
    """A file that can't be edited here: ``where: what is wrong: the values seen; what to do``."""


@dataclass(frozen=True)
class EditedFile:
    """A file that was read.

    Attributes:
        text: with ``newline`` replaced by a line feed.
        digest: the SHA-256 of its bytes.
        code: it with what it imports from its folder, None where that can't be read.
    """

    text: str = ""
    newline: str = "\n"
    digest: str = ""
    code: LocalCode | None = None


def read_edited(path: Path) -> EditedFile:
    """Read a file. Raises CodeError."""
    data = _read(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CodeError(
            f"{path}: no text in UTF-8: {error.reason} at byte {error.start}; save it as UTF-8 first"
        ) from None
    if problem := too_large(text):
        raise CodeError(f"{path}: {problem}")
    code = None
    with suppress(OSError, CodeTooLarge):
        code = read_code(path, data)
    newline = "\r\n" if "\r\n" in text else "\n"
    text = text.replace("\r\n", "\n")
    text_outline(text)  # before it is asked for
    return EditedFile(text, newline, digest_of(data), code)


def code_of_text(path: Path, text: str) -> LocalCode:
    """A text with what it imports from the folder of its file. Raises CodeError where that can't be read."""
    try:
        return read_code(path, text.encode())
    except (OSError, CodeTooLarge) as error:
        raise CodeError(str(error)) from error


def digest_on_disk(path: Path) -> str:
    """The digest of what the file holds now. Raises CodeError."""
    return digest_of(_read(path))


def stamp_of(path: Path) -> tuple[int, ...]:
    """What changes when a file is written or replaced; empty where there is none."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size


def digest_of(data: bytes) -> str:
    """The SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_BYTES)
    except OSError as error:
        raise CodeError(
            f"{path}: can't be read: {error.strerror or error}; choose another file, or put it back"
        ) from error
