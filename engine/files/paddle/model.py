"""The files of a model that Paddle saved: the Program, and its weights in one file or one file each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import FormatError
from engine.core.program_desc import ProgramDesc, weight_names
from engine.files import guarded
from engine.files.foreign import PADDLE_PROGRAM, PADDLE_WEIGHTS, ForeignFile, load_foreign
from engine.files.inference import PROGRAM, WEIGHTS, inference_paths
from engine.files.paddle.lod_tensor import parse_lod_tensors
from engine.files.paddle.program_desc import parse_program
from engine.files.plain import Array

_REMEDY = "get both files again from one save"
_SAVE_ID_BYTES = 16
_COMBINED = ("__params__", "params")  # names of versions before 2.0


@dataclass(frozen=True)
class PaddleModel:
    """What the files hold. ``save_id`` is a hash of their bytes."""

    program: ProgramDesc
    weights: dict[str, Array]
    save_id: str
    path: Path


def read_paddle_model(place: Path) -> PaddleModel:
    """Read the model with the prefix ``place``, or that of the Program ``place``, such as ``__model__``.

    Raises:
        DataError: a file is missing or can't be read; the message names it.
        FormatError: damaged, not Paddle's, or weights of another Program.
    """
    paths = inference_paths(place)
    path = place if place not in paths.values() and place.is_file() else paths[PROGRAM]
    program = load_foreign(path, PADDLE_PROGRAM)
    guarded.check([program])
    desc = parse_program(program.data, path)
    names = weight_names(desc)
    files = _weight_files(path, paths[WEIGHTS], names)
    guarded.check(files)
    digest = hashlib.sha256(program.data)
    for file in files:
        digest.update(file.data)
    weights: dict[str, Array]
    if len(files) == 1 and files[0].shown.name not in names:
        [file] = files
        weights = dict(zip(names, parse_lod_tensors(file.data, len(names), file.shown, _REMEDY), strict=True))
    else:
        weights = {
            n: parse_lod_tensors(f.data, 1, f.shown, _REMEDY)[0] for n, f in zip(names, files, strict=True)
        }
    return PaddleModel(desc, weights, digest.hexdigest()[: 2 * _SAVE_ID_BYTES], path)


def _weight_files(program: Path, combined: Path, names: list[str]) -> list[ForeignFile]:
    """One file with all weights, or a file for each of ``names`` next to the Program's."""
    older = [program.with_name(name) for name in _COMBINED]
    for path in (combined, *older):
        if path.exists():
            return [load_foreign(path, PADDLE_WEIGHTS)]
    if not names:
        return []
    separate = [program.with_name(name) for name in names]
    strange = [
        n for n, path in zip(names, separate, strict=True) if path.parent != program.parent or path.name != n
    ]
    if strange:
        raise FormatError(f"{program}: its weight {strange[0]!r:.80} is not the name of a file; {_REMEDY}")
    if not all(path.exists() for path in separate):
        return [load_foreign(combined, PADDLE_WEIGHTS)]  # raises, and names the file
    return [load_foreign(path, PADDLE_WEIGHTS) for path in separate]
