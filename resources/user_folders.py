"""This person's folders for data, settings and what can be made again, also where the system knows no home.

Processes of a number without a name (``docker run --user 12345``) have no home where HOME is not set either.
What lies in a home is then absent, and what would be written there is refused by the system: the path
leads through a file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import platformdirs

APP = "model-studio"
NO_HOME = Path(os.devnull) / "HOME is not set"


def user_folder(kind: Literal["data", "config", "cache"], author: bool = False) -> Path:
    """The folder of Model Studio for files of this kind; it may not exist yet.

    Args:
        author: on Windows, below a folder of the same name.
    """
    try:
        found = Path(getattr(platformdirs, f"user_{kind}_dir")(APP, appauthor=None if author else False))
    except RuntimeError:
        return NO_HOME / APP
    return found if found.is_absolute() else NO_HOME / APP


def home_folder() -> Path:
    """This person's home."""
    try:
        return Path.home()
    except RuntimeError:
        return NO_HOME
