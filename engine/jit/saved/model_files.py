"""Saved models of every format, distinguished by content and read as :class:`InferenceFiles`.

All that takes the PREFIX of a saved model reads it here, so a model is found under the prefix of three files,
under the name of one file, or under that name without its suffix. The table ``FORMATS`` lists the readers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from engine.core.delegate import delegate
from engine.core.errors import ArgumentError, FormatError
from engine.core.strictness import tolerate
from engine.files import content
from engine.files.atomic import saving
from engine.files.inference import (
    PROGRAM,
    SUFFIXES,
    InferenceDescription,
    InferenceFiles,
    describe_inference,
    inference_paths,
    inference_prefix,
    is_own_inference,
    move_inference,
    read_inference,
    write_inference,
)
from engine.files.packed import KIND as PACKED_KIND
from engine.files.packed import describe_packed, is_own_packed, read_packed, uncompressed_size, write_packed
from engine.files.plain import Array, StrPath
from engine.jit.saved.paddle_files import read_paddle
from engine.jit.saved.write_paddle import write_paddle
from resources.replacing import sync_folder
from resources.settings.export import ENDINGS

NATIVE, PADDLE = "native", "paddle"
PACKED, ONNX = "packed", "onnx"
_WHAT = {
    content.CONTAINER: "a Model Studio file of another kind",
    content.HDF5: "an HDF5 file that another program wrote",
    content.ZIP: "a ZIP archive",
    content.PICKLE: "a Python pickle",
}


@dataclass(frozen=True)
class ModelFormat:
    """How the models of a format are read. All but ``describe`` and ``is_own`` take what ``place`` gives.

    ``title`` is its name in texts. A format of other programs has no reader of descriptions: everything is
    read; and none of its files are own.
    """

    title: str
    read: Callable[[Path], InferenceFiles]
    describe: Callable[[Path], InferenceDescription] | None = None
    is_own: Callable[[Path], bool] | None = None


@delegate("engine.onnx.read_file")
def read_onnx(path: StrPath) -> InferenceFiles:
    """Read an ONNX file, which needs the extra onnx."""
    raise NotImplementedError


@delegate("engine.onnx.convert")
def write_onnx(files: InferenceFiles) -> str:
    """Write the ONNX file ``files.prefix``, which needs the extra onnx; a save id."""
    raise NotImplementedError


FORMATS: dict[str, ModelFormat] = {
    NATIVE: ModelFormat("Model Studio's three files", read_inference, describe_inference, is_own_inference),
    PACKED: ModelFormat("one packed file", read_packed, describe_packed, is_own_packed),
    ONNX: ModelFormat("an ONNX file", read_onnx),
    PADDLE: ModelFormat("PaddlePaddle's files", read_paddle),
}


def _write_onnx(path: StrPath, program: Any, weights: Mapping[str, Array], info: Any) -> str:
    place = path_in_format(path, ONNX)
    return write_onnx(InferenceFiles(program, dict(weights), info, "", place, own=True, single=True))


# By format: writes program, weights and information under a path, and returns the save id.
WRITERS: dict[str, Callable[[StrPath, Any, Mapping[str, Array], Any], str]] = {
    NATIVE: write_inference,
    PACKED: write_packed,
    ONNX: _write_onnx,
    PADDLE: write_paddle,
}


def kind_of(path: StrPath) -> str:
    """The format of the model at ``path``, a key of ``FORMATS``; NATIVE where no file exists.

    Raises:
        FormatError: ``path`` is another kind of file. ArgumentError: a path without a file name.
    """
    return model_place(path)[0]


def model_place(path: StrPath) -> tuple[str, Path]:
    """The format of the model at ``path``, and its file, or the prefix of its files.

    Raises as :func:`kind_of`.
    """
    given, base = Path(path), inference_prefix(path)
    three = inference_paths(base)
    single = given if given not in three.values() else None
    if single is not None and (found := _single(single)):
        return found, single
    if content.content_of(three[PROGRAM]) == content.PADDLE:
        return PADDLE, base
    older = given / "__model__" if os.path.isdir(given) else given  # before 2.0, with weights next to it
    if older not in three.values() and content.content_of(older) == content.PADDLE:
        return PADDLE, older
    for newer in (given, base.with_name(f"{base.name}.json")):
        if not os.path.exists(three[PROGRAM]) and content.content_of(newer) == content.PADDLE_3:
            return PADDLE, newer
    if not any(map(os.path.exists, three.values())):
        for kind, ending in ENDINGS.items():
            one = base.with_name(base.name + ending)
            if _single(one) == kind:
                return kind, one
        if single is not None and os.path.isfile(single):
            what = _WHAT.get(content.content_of(single), "a file of an unknown format")
            raise FormatError(
                f"{os.fspath(path)}: not a saved model: {what}; choose a file that export or jit.save wrote"
            )
    return NATIVE, base


def _single(path: Path) -> str:
    """The format of a model that is one file; empty for other files."""
    found = content.content_of(path)
    if found == content.CONTAINER and content.container_kind(path) == PACKED_KIND:
        return PACKED if PACKED in FORMATS else ""
    return ONNX if found == content.ONNX and ONNX in FORMATS else ""


def read_model_files(path: StrPath) -> InferenceFiles:
    """Read the model at ``path``, of whatever format.

    Raises:
        DataError: a file is missing or can't be read; the message names it.
        FormatError: damaged, truncated, of another format, or of different saves.
        ArgumentError: a path without a file name.
    """
    kind, place = model_place(path)
    return FORMATS[kind].read(place)


def named_files(where: str, path: str, options: Mapping[str, object]) -> str:
    """The prefix of the files that ``model_filename`` and ``params_filename`` name in the folder ``path``."""
    given = [key for key in ("model_filename", "params_filename") if options.get(key)]
    if not given or not os.path.isdir(path):
        if given:
            tolerate(
                ArgumentError(
                    f"{where}: {' and '.join(given)} have no effect: {path!r} is not a folder but the prefix "
                    "of a model; leave them out, or give the folder"
                )
            )
        return path
    names = [str(options.get(key) or "__model__") for key in ("model_filename", "params_filename")]
    prefixes = {str(inference_prefix(os.path.join(path, name))) for name in names}
    if len(prefixes) > 1:
        raise ArgumentError(
            f"{where}: {names[0]!r} and {names[1]!r} are not of one model: the files of a model have one "
            "name with the endings .pdmodel and .pdiparams; give the path without the ending"
        )
    return prefixes.pop()


def write_model_files(
    path: StrPath,
    program: Mapping[str, Any],
    weights: Mapping[str, Array],
    info: Mapping[str, Any],
    format: str = NATIVE,
    compress: bool = False,
) -> str:
    """Write a model in a format of ``WRITERS`` and return its save id; a packed file may be compressed.

    Raises:
        ArgumentError: an unknown format, or a path without a file name.
        SaveError: the files could not be written; existing files are unchanged.
    """
    write = WRITERS.get(format)
    if write is None:
        raise ArgumentError(f"format {format!r} is unknown: choose one of {', '.join(WRITERS)}")
    if compress:
        if format != PACKED:
            raise ArgumentError(f"compress=True makes packed files smaller: got the format {format!r}")
        write = partial(write_packed, compress=True)
    return write(path, program, weights, info)


def path_in_format(path: StrPath, format: str) -> Path:
    """Where a model that is saved as ``path`` lies: the prefix of its files, or the one file, whose suffix is
    added unless ``path`` has it."""
    base, ending = inference_prefix(path), ENDINGS.get(format, "")
    return base if base.name.lower().endswith(ending) else base.with_name(base.name + ending)


def gain_of_compression(path: Path, format: str) -> float:
    """The share of bytes that compression saved in what was written as ``path``; 0 for other formats."""
    return 1 - path.stat().st_size / uncompressed_size(path) if format == PACKED else 0.0


def written_paths(path: Path, format: str) -> list[Path]:
    """The files of a model that was written as ``path``, as ``path_in_format`` gives it."""
    if format in ENDINGS:
        return [path]
    paths = inference_paths(path)
    return [paths[suffix] for suffix in SUFFIXES if os.path.exists(paths[suffix])]


def move_model_files(source: Path, target: Path, format: str) -> None:
    """Put a model in place of what lies at ``target``, on the same disk; both as ``path_in_format`` gives.

    Raises SaveError, and as :func:`read_model_files`.
    """
    if format == NATIVE:
        move_inference(source, target)
        return
    pairs = [(source, target)]
    if format not in ENDINGS:
        there, here = inference_paths(source), inference_paths(target)
        pairs = [(there[suffix], here[suffix]) for suffix in SUFFIXES if os.path.exists(there[suffix])]
    for old, new in pairs:
        with saving(new):
            old.replace(new)
    sync_folder(target.parent)


def describe_model_files(path: StrPath) -> InferenceDescription:
    """Program and information of a model, without its weights where the format allows. Raises as
    :func:`read_model_files`."""
    kind, place = model_place(path)
    describe = FORMATS[kind].describe
    if describe is not None:
        return describe(place)
    files = FORMATS[kind].read(place)
    sizes = {each.name: each.stat().st_size for each in model_paths(path)}
    return InferenceDescription(files.program, files.info, files.save_id, files.prefix, sizes)


def is_own_model(path: StrPath) -> bool:
    """Whether this installation wrote the model, as its signature says. Raises as
    :func:`read_model_files`."""
    kind, place = model_place(path)
    is_own = FORMATS[kind].is_own
    return is_own is not None and is_own(place)


def model_paths(path: StrPath) -> list[Path]:
    """The files of the model at ``path``; for a model of several files those that exist. Raises as
    :func:`kind_of`."""
    kind, place = model_place(path)
    if kind in ENDINGS or os.path.isfile(place):
        return [place]
    paths = inference_paths(place)
    return [paths[suffix] for suffix in SUFFIXES if os.path.exists(paths[suffix])]


def model_prefix(path: StrPath) -> Path:
    """``path`` as the name that finds the model again: a prefix without suffix, or the one file. Raises as
    :func:`kind_of`."""
    return model_place(path)[1]


def is_model_file(path: StrPath) -> bool:
    """Whether ``path`` is one file that holds a whole model."""
    return bool(_single(Path(path)))
