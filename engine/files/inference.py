"""The three inference files ``PREFIX.pdmodel``, ``.pdiparams`` and ``.pdiparams.info``: written and read as
one.

All three carry one random save id in their first block. Writing goes in two steps: all three are written
beside their places as ``.NAME.ID.staged`` and synced, then each is renamed into place. A kill before the
first rename leaves the old three; after it, every file of the new save is in place or staged, so the reader
sees two ids, finds the one save that is complete and finishes its renames. Files of two saves of which none
is complete are refused.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from engine.core.errors import ArgumentError, DataError, FormatError, SaveError
from engine.files.atomic import durable_file, make_folder, save_error, saving, sync_folder
from engine.files.checked import Container, Expected, read_user_block
from engine.files.container import container_parts, read_containers, write_parts

PROGRAM, WEIGHTS, INFO = "pdmodel", "pdiparams", "pdiparams.info"
SUFFIXES = (PROGRAM, WEIGHTS, INFO)
VERSION = 1
_KINDS = {PROGRAM: "inference.program", WEIGHTS: "inference.weights", INFO: "inference.info"}
_TRIES = 5


@dataclass(frozen=True)
class InferenceFiles:
    """What the three files hold: the program, the weights by name, and the information on them."""

    program: Any
    weights: dict[str, NDArray[Any]]
    info: Any
    save_id: str
    prefix: Path


@dataclass(frozen=True)
class InferenceDescription:
    """Structure and information without the weights; ``sizes`` in bytes by suffix."""

    program: Any
    info: Any
    save_id: str
    prefix: Path
    sizes: dict[str, int]


def inference_prefix(prefix: str | os.PathLike[str]) -> Path:
    """``prefix`` as a path, without one of the three suffixes where someone chose the file itself.

    Raises:
        ArgumentError: it has no file name, such as ``models/``.
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


def inference_paths(prefix: str | os.PathLike[str]) -> dict[str, Path]:
    """The three paths by suffix."""
    base = inference_prefix(prefix)
    return {suffix: base.with_name(f"{base.name}.{suffix}") for suffix in SUFFIXES}


def write_inference(
    prefix: str | os.PathLike[str], program: Any, weights: Mapping[str, NDArray[Any]], info: Any
) -> str:
    """Writes the three files (the folder is created where absent) and returns their save id.

    ``program`` and ``info`` are plain values, ``weights`` maps names to arrays.

    Raises:
        SaveError: they could not be written; the three files that were there are unchanged.
        DTypeError, ArgumentError: a value that can't be saved, or a prefix without a file name.
    """
    paths = inference_paths(prefix)
    trees = {PROGRAM: {"program": program}, WEIGHTS: {"weights": dict(weights)}, INFO: {"info": info}}
    save_id = secrets.token_bytes(16)
    parts = {suffix: container_parts(_KINDS[suffix], VERSION, trees[suffix], save_id) for suffix in SUFFIXES}
    folder = make_folder(paths[PROGRAM].parent)
    for path in paths.values():
        if path.is_dir():
            raise save_error(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    staged = {suffix: _staged_path(paths[suffix], save_id.hex()) for suffix in SUFFIXES}
    with ExitStack() as undo:
        for suffix in SUFFIXES:
            with saving(paths[suffix]), durable_file(staged[suffix]) as file:
                write_parts(file, parts[suffix])
            undo.callback(staged[suffix].unlink, missing_ok=True)
        with saving(folder):
            sync_folder(folder)
        # From the first rename on the new save is the one that counts: what is staged must stay from here.
        keep = undo.pop_all()
    try:
        _move(paths[WEIGHTS], staged[WEIGHTS], save_id.hex())
    except SaveError:
        keep.close()
        raise
    for suffix in (INFO, PROGRAM):
        try:
            _move(paths[suffix], staged[suffix], save_id.hex())
        except SaveError as error:
            raise SaveError(
                f"{paths[suffix]}: the model is saved, but not all of it is in place yet: "
                f"{error.__cause__}; close programs that hold the file, then load the model "
                "once: that finishes the save"
            ) from error
    with saving(folder):
        sync_folder(folder)
    for _, _, path in _find_staged(paths):
        with suppress(OSError):
            path.unlink()
    return save_id.hex()


def _move(path: Path, staged: Path, save_id: str) -> None:
    with saving(path):
        try:
            os.replace(staged, path)
        except FileNotFoundError:
            # A reader that came between two renames has finished them for us.
            if _save_id(path) != save_id:
                raise


def read_inference(prefix: str | os.PathLike[str]) -> InferenceFiles:
    """Reads the three files.

    Raises:
        DataError: one of the three is missing (named) or can't be read.
        FormatError: damaged, truncated, foreign, or of two different saves (says which file differs).
        ArgumentError: a prefix without a file name.
    """
    base = inference_prefix(prefix)
    save_id, found = _read(base, SUFFIXES)
    weights = found[WEIGHTS].tree["weights"]
    return InferenceFiles(found[PROGRAM].tree["program"], weights, found[INFO].tree["info"], save_id, base)


def describe_inference(prefix: str | os.PathLike[str]) -> InferenceDescription:
    """Reads structure and information; of the weights only the first block is read, to compare the save id.

    Raises: as :func:`read_inference`.
    """
    base = inference_prefix(prefix)
    save_id, found = _read(base, (PROGRAM, INFO))
    sizes = {suffix: path.stat().st_size for suffix, path in inference_paths(base).items()}
    program, info = found[PROGRAM].tree["program"], found[INFO].tree["info"]
    return InferenceDescription(program, info, save_id, base, sizes)


def _read(base: Path, suffixes: tuple[str, ...]) -> tuple[str, dict[str, Container]]:
    paths = inference_paths(base)
    for _ in range(_TRIES):
        save_id, places = _resolve(paths)
        try:
            containers = read_containers([Expected(places[s], _KINDS[s], VERSION) for s in suffixes])
        except DataError:
            if all(path.exists() for path in places.values()):
                raise
            continue  # renamed since, by a writer or another reader
        if all(container.save_id.hex() == save_id for container in containers):
            found = dict(zip(suffixes, containers, strict=True))
            for suffix, container in found.items():
                _check_tree(container.tree, suffix, places[suffix])
            return save_id, found
    raise DataError(
        f"{base}: the files were replaced again and again while they were read; "
        "wait until the program that writes them is done"
    )


def _check_tree(tree: Any, suffix: str, path: Path) -> None:
    field = {PROGRAM: "program", WEIGHTS: "weights", INFO: "info"}[suffix]
    sound = isinstance(tree, dict) and set(tree) == {field}
    if sound and suffix == WEIGHTS:
        weights = tree["weights"]
        sound = isinstance(weights, dict) and all(
            isinstance(name, str) and hasattr(array, "dtype") for name, array in weights.items()
        )
    if not sound:
        raise FormatError(
            f"{path}: not a valid Model Studio file: it holds no {field}; get it again from a "
            "source that you trust"
        )


def _resolve(paths: dict[str, Path]) -> tuple[str, dict[str, Path]]:
    """The save id to read, and where each of its files is; finishes the renames of a writer that was
    killed."""
    visible = {suffix: _save_id(path) for suffix, path in paths.items()}
    ids = {save_id for save_id in visible.values() if save_id is not None}
    if len(ids) == 1 and None not in visible.values():
        return ids.pop(), paths
    staged: dict[str, dict[str, Path]] = {}
    for save_id, suffix, path in _find_staged(paths):
        staged.setdefault(save_id, {})[suffix] = path
    complete = [
        save_id
        for save_id in ids
        if all(visible[suffix] == save_id or suffix in staged.get(save_id, {}) for suffix in SUFFIXES)
    ]
    if len(complete) != 1:
        raise _incomplete(paths, visible)
    save_id = complete[0]
    places = dict(paths)
    for suffix in SUFFIXES:
        if visible[suffix] != save_id:
            # Where this user may not rename, the staged file is read where it is.
            try:
                os.replace(staged[save_id][suffix], paths[suffix])
            except OSError:
                places[suffix] = staged[save_id][suffix]
    return save_id, places


def _incomplete(paths: dict[str, Path], visible: dict[str, str | None]) -> DataError | FormatError:
    missing = [paths[suffix].name for suffix in SUFFIXES if visible[suffix] is None]
    folder = paths[PROGRAM].parent
    if missing:
        there = [paths[suffix].name for suffix in SUFFIXES if visible[suffix] is not None]
        seen = f"found {' and '.join(there)}" if there else "none of the three files is there"
        return DataError(
            f"{folder}: missing {' and '.join(missing)}: {seen}; a model is three files of one "
            "save, copy all three or export it again"
        )
    by_id: dict[str, list[str]] = {}
    for suffix in SUFFIXES:
        by_id.setdefault(str(visible[suffix]), []).append(paths[suffix].name)
    shown = ", ".join(f"{' and '.join(names)} from save {save_id[:8]}" for save_id, names in by_id.items())
    single = [names[0] for names in by_id.values() if len(names) == 1]
    what = f"{single[0]} differs from the other two" if len(by_id) == 2 else "all three differ"
    return FormatError(
        f"{folder}: the three files are not of one save: {what} ({shown}); "
        "copy all three from one save or export the model again"
    )


def _save_id(path: Path) -> str | None:
    try:
        return read_user_block(path).save_id.hex()
    except DataError:
        if path.exists():
            raise
        return None


def _staged_path(path: Path, save_id: str) -> Path:
    return path.with_name(f".{path.name}.{save_id}.staged")


def _find_staged(paths: dict[str, Path]) -> list[tuple[str, str, Path]]:
    """Save id, suffix and path of every staged file of this prefix."""
    folder = paths[PROGRAM].parent
    suffix_of = {path.name: suffix for suffix, path in paths.items()}
    found = []
    with suppress(OSError):
        for name in os.listdir(folder):
            match = re.fullmatch(r"\.(.+)\.([0-9a-f]{32})\.staged", name)
            if match and match[1] in suffix_of:
                found.append((match[2], suffix_of[match[1]], folder / name))
    return sorted(found)
