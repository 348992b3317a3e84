"""State dicts and other nested values in one file each (kind ``state``): weights as ``/conv1.weight`` and so
on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from engine.files.atomic import make_folder
from engine.files.container import read_container, write_container

KIND = "state"
VERSION = 1


def write_state(path: str | os.PathLike[str], obj: Any) -> None:
    """Saves nested dicts, lists, tuples, scalars and arrays; missing folders are created, as Paddle's save
    does.

    Raises:
        SaveError: the file could not be written; what was there before is unchanged.
        DTypeError, ArgumentError: ``obj`` holds what can't be saved.
    """
    make_folder(Path(path).parent)
    write_container(path, KIND, VERSION, obj)


def read_state(path: str | os.PathLike[str]) -> Any:
    """What :func:`write_state` saved, with every type kept.

    Raises:
        DataError: there is no such file, or it can't be read.
        FormatError: damaged, truncated, foreign, or of another kind.
    """
    return read_container(path, KIND, VERSION)
