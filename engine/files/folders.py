"""Folders that come and go as a whole: under a temporary name first, which a rename takes or gives.

What a killed process left under such a name goes when the next one asks for it; only one process works in the
folder around it at a time.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from pathlib import Path

from resources.replacing import sync_folder

_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]{16}\.tmp", re.DOTALL)


def temporary_path(folder: Path) -> Path:
    """A new name for what becomes ``folder``, or was it."""
    return folder.with_name(f".{folder.name}.{secrets.token_hex(8)}.tmp")


def put_in_place(temporary: Path, folder: Path) -> None:
    """Give the folder its name, to survive a power failure. Raises OSError."""
    os.rename(temporary, folder)
    sync_folder(folder.parent)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it; interrupted, it is there or not. Raises OSError."""
    if folder.exists():
        temporary = temporary_path(folder)
        os.rename(folder, temporary)
        sync_folder(folder.parent)
        shutil.rmtree(temporary)


def remove_abandoned_folders(folder: Path) -> None:
    """Remove what an interrupted process left of ``folder`` under temporary names. Raises OSError."""
    for path in folder.parent.iterdir():
        match = _TEMPORARY.fullmatch(path.name)
        if match and match[1] == folder.name and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
