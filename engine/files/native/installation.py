"""The random key by which this installation recognizes the files that it wrote itself."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from engine.files.atomic import make_folder
from resources.regular_files import open_regular
from resources.replacing import remove_abandoned, sync_folder, temporary_file
from resources.user_folders import user_folder

_LENGTH = 32


def key_path() -> Path:
    """The path of the key: ``installation.key`` in the user's data folder."""
    return user_folder("data") / "installation.key"


def installation_key() -> bytes | None:
    """The key of 32 bytes, created at first use with permissions 0600.

    None if the key can be neither read nor stored, or if other users can read it or own it. Every file then
    counts as foreign, which is slower but as safe.
    """
    path = key_path()
    with suppress(OSError):
        return _read(path)
    with suppress(OSError):
        _create(path)
        return _read(path)
    return None


def _read(path: Path) -> bytes | None:
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_nlink > 1:  # killed between the link and the end of its other name
            remove_abandoned(path.parent, path.name)
        if os.name != "nt":
            status = os.fstat(file.fileno())
            if status.st_mode & 0o077 or status.st_uid != os.geteuid():
                return None
        key = file.read(_LENGTH + 1)
    return key if len(key) == _LENGTH else None


def _create(path: Path) -> None:
    make_folder(path.parent, 0o700)
    remove_abandoned(path.parent, path.name)
    with temporary_file(path, 0o600) as (file, temporary):
        file.write(secrets.token_bytes(_LENGTH))
        file.flush()
        os.fsync(file.fileno())
        # A link, unlike a rename, fails if another process was first: both then use that process's key.
        with suppress(FileExistsError):
            os.link(temporary, path)
    sync_folder(path.parent)
