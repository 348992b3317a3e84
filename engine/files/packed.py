"""A saved model as one file, ``NAME.h5``: the same program, weights and information as three files hold.

Its HDF5 groups are ``program``, ``params`` and ``info``; see docs/file-format.md.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from engine.core.errors import FormatError
from engine.files.atomic import atomic_write, make_folder
from engine.files.inference import InferenceDescription, InferenceFiles, inference_prefix
from engine.files.native.checked import Container, Expected
from engine.files.native.container import container_parts, is_own_container, read_containers, write_parts
from engine.files.plain import Array, StrPath
from resources.settings.export import ENDINGS

KIND = "inference.packed"
VERSION = 1
ENDING = ENDINGS["packed"]


def packed_path(path: StrPath) -> Path:
    """The file of a packed model that is saved as ``path``: the suffix ``.h5`` is added unless it has it.

    Raises ArgumentError for a path without a file name.
    """
    if os.fspath(path).endswith(ENDING):
        return Path(path)
    base = inference_prefix(path)
    return base.with_name(base.name + ENDING)


def write_packed(
    path: StrPath,
    program: object,
    weights: Mapping[str, Array],
    info: object,
    compress: bool = False,
) -> str:
    """Write one file and return its save id; the folder is created if absent.

    ``program`` and ``info`` are plain values, ``weights`` maps names to arrays. ``compress`` makes the file
    smaller by shuffle and gzip; weights of float32 lose about a sixth.

    Raises:
        SaveError: the file could not be written; an existing file is unchanged.
        DTypeError, ArgumentError: a value that can't be saved, or a path without a file name.
    """
    target = packed_path(path)
    save_id = secrets.token_bytes(16)
    tree = {"program": program, "params": dict(weights), "info": info}
    parts = container_parts(KIND, VERSION, tree, save_id, compress)
    make_folder(target.parent)
    atomic_write(target, lambda file: write_parts(file, parts))
    return save_id.hex()


def read_packed(path: StrPath) -> InferenceFiles:
    """Read a packed model.

    Raises:
        DataError: the file is missing or can't be read.
        FormatError: damaged, truncated, foreign, or another kind of file.
    """
    found = _container(Path(path))
    tree = found.tree
    return InferenceFiles(
        tree["program"], tree["params"], tree["info"], found.save_id.hex(), Path(path), found.own, single=True
    )


def describe_packed(path: StrPath) -> InferenceDescription:
    """Program and information of a packed model. Raises as :func:`read_packed`."""
    files = read_packed(path)
    sizes = {files.prefix.name: files.prefix.stat().st_size}
    return InferenceDescription(files.program, files.info, files.save_id, files.prefix, sizes, single=True)


def uncompressed_size(path: StrPath) -> int:
    """The bytes that a packed model has without compression. Raises as :func:`read_packed`."""
    files = read_packed(path)
    tree = {"program": files.program, "params": files.weights, "info": files.info}
    return sum(len(part) for part in container_parts(KIND, VERSION, tree))


def is_own_packed(path: StrPath) -> bool:
    """Whether this installation wrote the file, as its signature says. Raises as :func:`read_packed`."""
    return is_own_container(path)


def _container(path: Path) -> Container:
    found = read_containers([Expected(path, KIND, VERSION)])[0]
    params = found.tree["params"]
    sound = isinstance(params, dict) and all(
        isinstance(name, str) and hasattr(array, "dtype") for name, array in params.items()
    )
    if not sound:
        raise FormatError(
            f"{path}: not a valid Model Studio file: its params are not arrays by name; get it again from a "
            "source that you trust"
        )
    return found
