"""Saved models written as Paddle's own three files, which its ``jit.load`` and ``paddle.inference`` read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Any, BinaryIO

from engine.core.errors import ArgumentError
from engine.files.atomic import atomic_file, make_folder, saving
from engine.files.inference import INFO, PROGRAM, WEIGHTS, inference_paths
from engine.files.paddle.lod_tensor import combined_parts
from engine.files.paddle.pickle_writer import pickled
from engine.files.paddle.program_desc import program_bytes
from engine.files.plain import Array, StrPath
from engine.program.saved.paddle.writes.write_program import write_program
from engine.program.saved.serialize import from_plain

_PROTOCOL = 2  # of the pickle in .pdiparams.info, as Paddle 2.6.2 writes it
_SAVE_ID_DIGITS = 32


def write_paddle(
    path: StrPath, program: Mapping[str, Any], weights: Mapping[str, Array], info: Mapping[str, Any]
) -> str:
    """Write ``PATH.pdmodel``, ``.pdiparams`` and ``.pdiparams.info`` as Paddle 2.6.2 does; the first half of
    the hash of both, which stands for a save id.

    ``program`` are plain values; ``info`` has the names and flags of the weights; all else in it has no place
    in these files. A model without weights is one file.

    Raises:
        ArgumentError: operators that Paddle does not have, or methods besides forward. SaveError: the files
            could not be written.
    """
    paths = inference_paths(path)
    plain = dict(program)
    methods = plain.pop("methods", {})
    if methods:
        raise ArgumentError(
            f"{paths[PROGRAM]}: Paddle's files hold forward only; this model also has "
            f"{', '.join(sorted(methods))}: save it in another format, or each method by itself"
        )
    found = from_plain(plain, str(paths[PROGRAM]), own=not plain.get("foreign", False))
    desc = write_program(found, str(paths[PROGRAM]))
    stored = {v.name for v in desc.blocks[0].vars if v.persistable}
    described = info.get("variables", {})
    kept = {name: array for name, array in weights.items() if name in stored}
    model = program_bytes(desc)
    digest = hashlib.sha256(model)
    for part in combined_parts(kept):
        digest.update(part)
    make_folder(paths[PROGRAM].parent)
    contents: dict[str, Callable[[], Iterable[Any]]] = {
        PROGRAM: lambda: [model],
        WEIGHTS: lambda: combined_parts(kept),
        INFO: lambda: pickled(_information(kept, described), _PROTOCOL),
    }
    weighted = (INFO, WEIGHTS) if kept else ()
    with ExitStack() as stack:  # all are written before the first replaces an old one
        for suffix in (*weighted, PROGRAM):
            file: BinaryIO = stack.enter_context(atomic_file(paths[suffix]))
            for part in contents[suffix]():
                file.write(part)
    if not kept:  # Paddle writes no file without weights, and does not read one
        for suffix in (INFO, WEIGHTS):
            with saving(paths[suffix]):
                paths[suffix].unlink(missing_ok=True)
    return digest.hexdigest()[:_SAVE_ID_DIGITS]


def _information(weights: Mapping[str, Array], described: Mapping[str, Any]) -> dict[str, Any]:
    """The content of Paddle's ``.pdiparams.info``: name and flags of each weight."""
    found = {}
    for name in weights:
        known = described.get(name, {})
        stop = bool(known.get("stop_gradient", False))
        found[name] = {"structured_name": str(known.get("structured_name", name)), "stop_gradient": stop}
        if known.get("parameter", True):
            found[name]["trainable"] = not stop
    return found
