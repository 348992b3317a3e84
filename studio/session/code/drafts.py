"""Drafts: texts that were not saved yet, kept so that neither a crash nor closing the window loses them."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from resources.regular_files import read_regular
from resources.user_folders import user_folder


def draft_path(file: Path) -> Path:
    """Where the draft of ``file`` is."""
    digest = hashlib.sha256(str(file).encode()).hexdigest()[:24]
    return user_folder("data", author=True) / "drafts" / f"{digest}.py"


def keep_draft(file: Path, text: str) -> None:
    """Keep a text that belongs into ``file``. Raises OSError, with the path and what to do."""
    from engine.files.atomic import atomic_write, make_folder

    path = draft_path(file)
    make_folder(path.parent, 0o700)
    atomic_write(path, lambda out: out.write(text.encode()))


def read_draft(file: Path) -> str | None:
    """The draft of ``file``, None where there is none that can be read."""
    try:
        return read_regular(draft_path(file)).decode()
    except (OSError, UnicodeDecodeError):
        return None


def drop_draft(file: Path) -> None:
    """Forget the draft of ``file``."""
    with suppress(OSError):
        draft_path(file).unlink()
