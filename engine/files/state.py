"""State dicts and other nested values, one file each (kind ``state``); arrays are named ``/conv1.weight``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.files.atomic import make_folder
from engine.files.inference import KINDS as INFERENCE_KINDS
from engine.files.inference import PROGRAM, WEIGHTS, check_tree
from engine.files.native.checked import Expected
from engine.files.native.container import read_container, read_containers, write_container
from engine.files.plain import StrPath

KIND = "state"
VERSION = 1


def write_state(path: StrPath, obj: object) -> None:
    """Save nested dicts, lists, tuples, scalars and arrays.

    Missing folders are created, as Paddle's save does.

    Raises:
        SaveError: the file could not be written; an existing file is unchanged.
        DTypeError, ArgumentError: ``obj`` holds a value that can't be saved.
    """
    make_folder(Path(path).parent)
    write_container(path, KIND, VERSION, obj)


def read_state(path: StrPath) -> Any:
    """The values that :func:`write_state` saved, each of its type.

    Raises:
        DataError: there is no such file, or it can't be read.
        FormatError: damaged, truncated, foreign, or of another kind.
    """
    return read_container(path, KIND, VERSION)


def read_saved(path: StrPath) -> tuple[str | None, Any, bool]:
    """The content of a file: a state, or the Program or weights of a model.

    Returns None and the tree for a state, and the suffix and the tree for a file of a model; last, whether
    this installation wrote it. Raises as :func:`read_state`.
    """
    models = {INFERENCE_KINDS[suffix]: suffix for suffix in (PROGRAM, WEIGHTS)}
    container = read_containers([Expected(Path(path), (KIND, *models), VERSION)])[0]
    suffix = models.get(container.kind)
    if suffix is not None:
        check_tree(container.tree, suffix, path)
    return suffix, container.tree, container.own
