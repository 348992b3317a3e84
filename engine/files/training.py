"""The files from which the training of a static graph resumes, as one save.

They are ``PREFIX.pdparams``, ``.pdopt`` and ``.pdmodel``. Each is of the kind ``state``, so that
``paddle.load`` can read it alone. Parameters and optimizer state of different saves are refused, because
training would resume from a mixture.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine.core.errors import ConditionError, DataError, DTypeError, FormatError
from engine.files.one_save import OneSave
from engine.files.state import KIND, VERSION

PARAMETERS, OPTIMIZER, PROGRAM = "pdparams", "pdopt", "pdmodel"
SUFFIXES = (PARAMETERS, OPTIMIZER, PROGRAM)


def training_paths(where: str, prefix: object) -> dict[str, Path]:
    """The three paths by suffix; ``prefix`` may also be the name of one of the files.

    Messages begin with ``where``. Raises DTypeError if ``prefix`` is not a path, ArgumentError if it has no
    file name.
    """
    if not isinstance(prefix, (str, os.PathLike)):
        raise DTypeError(
            f"{where}: the path must be a str or PathLike: got {type(prefix).__name__}; give a prefix "
            "such as checkpoints/lenet"
        )
    text = os.fspath(prefix)
    for suffix in SUFFIXES:
        text = text.removesuffix(f".{suffix}")
    if os.path.basename(text) in ("", ".", ".."):
        raise ConditionError(
            f"{where}: the path has no file name: {os.fspath(prefix)!r}; give a folder and a name, such as "
            "checkpoints/lenet"
        )
    base = Path(text)
    return {suffix: base.with_name(f"{base.name}.{suffix}") for suffix in SUFFIXES}


def write_training(paths: Mapping[str, Path], trees: Mapping[str, object]) -> str:
    """Write a tree of plain values to each path; returns the save id. Raises as ``OneSave.write``."""
    return _save(paths).write(trees)


def read_training(paths: Mapping[str, Path], suffixes: tuple[str, ...]) -> dict[str, Any]:
    """The trees of some of the files by suffix, which must be of one save. Raises as ``OneSave.read``.

    Files without a save id, as ``paddle.save`` writes them one by one, count as one save.
    """
    if all(path.exists() for path in paths.values()):
        # A save of all three whose writer was killed is finished, whichever of them are asked for.
        with suppress(DataError, FormatError):
            _save(paths).read(())
    _, found = _save({suffix: paths[suffix] for suffix in suffixes}).read(suffixes)
    return {suffix: container.tree for suffix, container in found.items()}


def _save(paths: Mapping[str, Path]) -> OneSave:
    return OneSave(paths, dict.fromkeys(paths, KIND), VERSION, "training state")
