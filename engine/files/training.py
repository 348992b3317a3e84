"""What training a static graph goes on from: ``PREFIX.pdparams``, ``.pdopt`` and ``.pdmodel``, one save.

Each is a file of the kind ``state``, so that ``paddle.load`` reads it alone. Parameters and optimizer state
of two saves are refused: training would go on from a mixture.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.files.one_save import OneSave
from engine.files.state import KIND, VERSION

PARAMETERS, OPTIMIZER, PROGRAM = "pdparams", "pdopt", "pdmodel"
SUFFIXES = (PARAMETERS, OPTIMIZER, PROGRAM)


def training_paths(where: str, prefix: Any) -> dict[str, Path]:
    """The three paths by suffix, also where ``prefix`` names one of the files.

    Raises DTypeError for what is no path, ArgumentError (beginning with ``where``) for one without a file
    name.
    """
    if not isinstance(prefix, (str, os.PathLike)):
        raise DTypeError(f"{where}: the path must be a text: got {type(prefix).__name__}")
    text = os.fspath(prefix)
    for suffix in SUFFIXES:
        text = text.removesuffix(f".{suffix}")
    if os.path.basename(text) in ("", ".", ".."):
        raise ArgumentError(
            f"{where}: the path has no file name: {os.fspath(prefix)!r}; give a folder and a name, such as "
            "checkpoints/lenet"
        )
    base = Path(text)
    return {suffix: base.with_name(f"{base.name}.{suffix}") for suffix in SUFFIXES}


def write_training(paths: Mapping[str, Path], trees: Mapping[str, Any]) -> str:
    """Writes a tree of plain values to each path and gives the save id. Raises as ``OneSave.write``."""
    return _save(paths).write(trees)


def read_training(paths: Mapping[str, Path], suffixes: tuple[str, ...]) -> dict[str, Any]:
    """The trees of some of the files, which must be of one save. Raises as ``OneSave.read``.

    Files without a save id, such as ``paddle.save`` writes them one by one, go together.
    """
    _, found = _save({suffix: paths[suffix] for suffix in suffixes}).read(suffixes)
    return {suffix: container.tree for suffix, container in found.items()}


def _save(paths: Mapping[str, Path]) -> OneSave:
    return OneSave(paths, dict.fromkeys(paths, KIND), VERSION, "training state")
