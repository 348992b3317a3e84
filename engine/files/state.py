"""State dicts and other nested values in one file each (kind ``state``): weights as ``/conv1.weight`` and so
on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from engine.files.atomic import make_folder
from engine.files.checked import Expected
from engine.files.container import read_container, read_containers, write_container
from engine.files.inference import KINDS as INFERENCE_KINDS
from engine.files.inference import PROGRAM, WEIGHTS, check_tree

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


def read_saved(path: str | os.PathLike[str]) -> tuple[str | None, Any]:
    """What a file holds: a state (None, as :func:`read_state` gives it), or Program or weights of a model
    (their suffix and tree).

    Raises: as :func:`read_state`.
    """
    models = {INFERENCE_KINDS[suffix]: suffix for suffix in (PROGRAM, WEIGHTS)}
    container = read_containers([Expected(Path(path), (KIND, *models), VERSION)])[0]
    suffix = models.get(container.kind)
    if suffix is not None:
        check_tree(container.tree, suffix, path)
    return suffix, container.tree
