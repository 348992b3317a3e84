"""The inference files ``PREFIX.pdmodel``, ``.pdiparams`` and ``.pdiparams.info``, as one save.

See :mod:`engine.files.one_save`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.errors import ArgumentError, FormatError
from engine.files.native.checked import Container
from engine.files.native.userblock import NO_SAVE_ID
from engine.files.one_save import OneSave
from engine.files.plain import Array, StrPath

PROGRAM, WEIGHTS, INFO = "pdmodel", "pdiparams", "pdiparams.info"
SUFFIXES = (PROGRAM, WEIGHTS, INFO)
VERSION = 1
KINDS = {PROGRAM: "inference.program", WEIGHTS: "inference.weights", INFO: "inference.info"}


@dataclass(frozen=True)
class InferenceFiles:
    """The content of a saved model: the program, the weights by name, and the information on them.

    ``program`` and ``info`` are plain values of any structure; their readers check it. ``own`` says that this
    installation wrote all of it. ``prefix`` is that of three files, or with ``single`` the one file.
    """

    program: Any
    weights: dict[str, Array]
    info: Any
    save_id: str
    prefix: Path
    own: bool = False
    single: bool = False

    def file_of(self, suffix: str) -> str:
        """The path, for messages, of the file that has what a native ``.SUFFIX`` has."""
        return str(self.prefix) if self.single else f"{self.prefix}.{suffix}"


@dataclass(frozen=True)
class InferenceDescription:
    """Program and information without the weights; ``sizes`` are the lengths of the files in bytes by name.

    ``single`` as in :class:`InferenceFiles`.
    """

    program: Any
    info: Any
    save_id: str
    prefix: Path
    sizes: dict[str, int]
    single: bool = False

    def file_of(self, suffix: str) -> str:
        """As that of :class:`InferenceFiles`."""
        return str(self.prefix) if self.single else f"{self.prefix}.{suffix}"


def inference_prefix(prefix: StrPath) -> Path:
    """``prefix`` as a path; the suffix is removed if it is the name of one of the three files.

    Raises ArgumentError if it has no file name, such as ``models/``.
    """
    text = os.fspath(prefix)
    for suffix in (INFO, WEIGHTS, PROGRAM):
        text = text.removesuffix(f".{suffix}")
    if os.path.basename(text) in ("", ".", ".."):
        raise ArgumentError(
            f"inference files: the prefix has no file name: {os.fspath(prefix)!r}; give a "
            "folder and a name, such as models/lenet"
        )
    return Path(text)


def inference_paths(prefix: StrPath) -> dict[str, Path]:
    """The three paths by suffix."""
    base = inference_prefix(prefix)
    return {suffix: base.with_name(f"{base.name}.{suffix}") for suffix in SUFFIXES}


def write_inference(prefix: StrPath, program: object, weights: Mapping[str, Array], info: object) -> str:
    """Write the three files and return their save id; the folder is created if absent.

    ``program`` and ``info`` are plain values, ``weights`` maps names to arrays.

    Raises:
        SaveError: the files could not be written; existing files are unchanged.
        DTypeError, ArgumentError: a value that can't be saved, or a prefix without a file name.
    """
    trees = {PROGRAM: {"program": program}, WEIGHTS: {"weights": dict(weights)}, INFO: {"info": info}}
    return _save(inference_prefix(prefix)).write(trees)


def move_inference(source: StrPath, prefix: StrPath) -> None:
    """Put the three files of ``source``, on the same disk, in place of those of ``prefix``.

    Raises as :func:`write_inference` and :func:`read_inference`.
    """
    _save(inference_prefix(prefix)).take_over(_save(inference_prefix(source)))


def read_inference(prefix: StrPath) -> InferenceFiles:
    """Read the three files.

    Raises:
        DataError: a file is missing or can't be read; the message names it.
        FormatError: damaged, truncated, foreign, or of different saves; the message names the file.
        ArgumentError: a prefix without a file name.
    """
    base = inference_prefix(prefix)
    save_id, found = _read(base, SUFFIXES)
    program, weights = found[PROGRAM].tree["program"], found[WEIGHTS].tree["weights"]
    own = all(container.own for container in found.values())
    return InferenceFiles(program, weights, found[INFO].tree["info"], save_id, base, own)


def describe_inference(prefix: StrPath) -> InferenceDescription:
    """Read program and information; of the weights only the user block is read, to compare the save id.

    Raises as :func:`read_inference`.
    """
    base = inference_prefix(prefix)
    save_id, found = _read(base, (PROGRAM, INFO))
    sizes = {path.name: path.stat().st_size for path in inference_paths(base).values()}
    program, info = found[PROGRAM].tree["program"], found[INFO].tree["info"]
    return InferenceDescription(program, info, save_id, base, sizes)


def is_own_inference(prefix: StrPath) -> bool:
    """Whether this installation wrote all three files, as their signatures say. Raises as
    :func:`read_inference`."""
    return _save(inference_prefix(prefix)).is_own()


def read_pair(prefix: StrPath) -> tuple[Any, Any, bool] | None:
    """Program and weights of two files that a caller wrote from bytes, without an information file, and
    whether this installation wrote both.

    None if the files are not such a pair. Raises as :func:`read_inference`.
    """
    paths = inference_paths(prefix)
    if paths[INFO].exists() or not (paths[PROGRAM].exists() and paths[WEIGHTS].exists()):
        return None
    pair = {suffix: paths[suffix] for suffix in (PROGRAM, WEIGHTS)}
    save_id, found = OneSave(pair, KINDS, VERSION, "model").read(pair)
    if save_id != NO_SAVE_ID.hex():
        return None
    for suffix, container in found.items():
        check_tree(container.tree, suffix, pair[suffix])
    own = all(container.own for container in found.values())
    return found[PROGRAM].tree["program"], found[WEIGHTS].tree["weights"], own


def _save(base: Path) -> OneSave:
    return OneSave(inference_paths(base), KINDS, VERSION, "model")


def _read(base: Path, suffixes: tuple[str, ...]) -> tuple[str, dict[str, Container]]:
    save_id, found = _save(base).read(suffixes)
    for suffix, container in found.items():
        check_tree(container.tree, suffix, inference_paths(base)[suffix])
    return save_id, found


def check_tree(tree: object, suffix: str, where: StrPath) -> None:
    """Raise FormatError, naming ``where``, unless the tree has the structure of the file of this suffix."""
    field = {PROGRAM: "program", WEIGHTS: "weights", INFO: "info"}[suffix]
    sound = isinstance(tree, dict) and set(tree) == {field}
    if isinstance(tree, dict) and sound and suffix == WEIGHTS:
        weights = tree["weights"]
        sound = isinstance(weights, dict) and all(
            isinstance(name, str) and hasattr(array, "dtype") for name, array in weights.items()
        )
    if not sound:
        raise FormatError(
            f"{where}: not a valid Model Studio file: it holds no {field}; get it again from a "
            "source that you trust"
        )
