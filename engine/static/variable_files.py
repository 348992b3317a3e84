"""Values of Variables as 1.x stores them: a file for each in a folder, or one file for all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import AbsentError, ArgumentError, FormatError
from engine.files.paddle.lod_tensor import is_lod_tensor, read_lod_tensor, read_lod_tensors
from engine.files.state import read_state
from engine.files.training import PARAMETERS, training_paths
from engine.framework.state_files import from_tree

Arrays = dict[str, np.ndarray[Any, Any]]
_HOW = "saved with [ save_params, save_persistables, save_vars ]"


def variable_path(where: str, folder: Path, name: str) -> Path:
    """The file of the Variable ``name``. Raises ArgumentError for a name that leads out of the folder."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise ArgumentError(f"{where}: {name!r} names a file outside of {folder}; rename the variable")
    return folder / name


def read_together(where: str, path: Path, names: Iterable[str]) -> Arrays:
    """The arrays called ``names`` in the one file ``path``: ours has their names.

    Paddle's has the values of just these, in the order of names. Raises AbsentError for a name that ours
    lacks, FormatError for other files.
    """
    wanted = sorted(set(names))
    if is_lod_tensor(path):
        return dict(zip(wanted, read_lod_tensors(path, len(wanted)), strict=True))
    found = from_tree(read_state(path), True, str(path))
    if not isinstance(found, dict):
        raise FormatError(f"{path}: it holds no values by name; choose what save_vars wrote")
    missing = [name for name in wanted if name not in found]
    if missing:
        raise AbsentError(f"{where}: {path}: it has no values for {missing[:5]}; load files of this Program")
    return {name: found[name] for name in wanted}


def is_older(model_path: str) -> bool:
    """Whether ``model_path`` is a folder or file of 1.x, and not the prefix of what ``static.save`` wrote."""
    return os.path.exists(model_path) and not training_paths("load", model_path)[PARAMETERS].exists()


def read_older(where: str, model_path: str, names: list[str] | None) -> Arrays:
    """The arrays called ``names``, or without them all of a folder.

    Raises ArgumentError for one file without ``names``, and the errors of reading.
    """
    path = Path(model_path)
    if path.is_dir():
        wanted = list(_names_in(path)) if names is None else names
        return {name: read_lod_tensor(variable_path(where, path, name)) for name in wanted}
    if names is None:
        raise ArgumentError(
            f"{where}: var_list is required when loading model file {_HOW}: {path} has no names; pass the "
            "Variables that were saved"
        )
    return read_together(where, path, names)


def names_in_older(where: str, model_path: str, names: list[str]) -> list[str]:
    """Those of ``names`` that have a file in the folder; all for one file. Raises AbsentError for none."""
    path = Path(model_path)
    if not path.is_dir():
        return names
    found = [name for name in names if variable_path(where, path, name).is_file()]
    if not found:
        raise AbsentError(
            f"{where}: {path} has none of the Variables {names[:5]}; load what was {_HOW} of this Program"
        )
    return found


def _names_in(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix()
