"""The files of a model that Paddle saved: the Program, and its weights in one file or one file each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import FormatError
from engine.core.program_desc import ProgramDesc, weight_names
from engine.files.inference import INFO, PROGRAM, WEIGHTS, inference_paths
from engine.files.paddle.lod_tensor import parse_lod_tensors
from engine.files.paddle.pickle_arrays import PADDLE
from engine.files.paddle.pickles import read_pickle
from engine.files.paddle.pir import MAGIC, parse_pir
from engine.files.paddle.program_desc import parse_program
from engine.files.plain import Array
from engine.files.untrusted import guarded
from engine.files.untrusted.foreign import (
    PADDLE_INFORMATION,
    PADDLE_PROGRAM,
    PADDLE_WEIGHTS,
    ForeignFile,
    load_foreign,
)

_REMEDY = "get both files again from one save"
_SAVE_ID_BYTES = 16
_COMBINED = ("__params__", "params")  # names of versions before 2.0


@dataclass(frozen=True)
class WeightInformation:
    """What a ``.pdiparams.info`` says of a weight: its name in the Layer, whether it is a parameter, and
    whether that is trained."""

    structured_name: str
    parameter: bool
    stop_gradient: bool


@dataclass(frozen=True)
class PaddleModel:
    """What the files hold. ``save_id`` is a hash of their bytes, ``information`` empty without its file."""

    program: ProgramDesc
    weights: dict[str, Array]
    information: dict[str, WeightInformation]
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
    desc = parse_model(program.data, path)
    if path.suffix == ".json":
        paths = inference_paths(path.with_suffix(""))
    names = weight_names(desc)
    files = _weight_files(path, paths[WEIGHTS], names)
    notes = [load_foreign(paths[INFO], PADDLE_INFORMATION)] if paths[INFO].exists() else []
    guarded.check([*files, *notes])
    digest = hashlib.sha256(program.data)
    for file in (*files, *notes):
        digest.update(file.data)
    weights: dict[str, Array]
    if len(files) == 1 and files[0].shown.name not in names:
        [file] = files
        weights = dict(zip(names, parse_lod_tensors(file.data, len(names), file.shown, _REMEDY), strict=True))
    else:
        weights = {
            n: parse_lod_tensors(f.data, 1, f.shown, _REMEDY)[0] for n, f in zip(names, files, strict=True)
        }
    information = _information(notes[0]) if notes else {}
    return PaddleModel(desc, weights, information, digest.hexdigest()[: 2 * _SAVE_ID_BYTES], path)


def parse_model(data: bytes, shown: object) -> ProgramDesc:
    """The Program in the bytes of a file of Paddle 2 or 3. Raises FormatError for anything else."""
    return (parse_pir if data.startswith(MAGIC) else parse_program)(data, shown)


def _information(file: ForeignFile) -> dict[str, WeightInformation]:
    """The entries by the name of the weight. Raises FormatError for anything else than a dict of them."""
    found = read_pickle(file.data, str(file.shown), PADDLE)
    sound = isinstance(found, dict) and all(isinstance(v, dict) for v in found.values())
    if not sound or not all(isinstance(name, str) for name in found):
        raise FormatError(f"{file.shown}: it does not describe weights by name; {_REMEDY}, or remove it")
    return {
        name: WeightInformation(
            str(entry.get("structured_name", name)),
            "trainable" in entry,
            entry.get("stop_gradient") is True or entry.get("trainable") is False,
        )
        for name, entry in found.items()
    }


def _weight_files(program: Path, combined: Path, names: list[str]) -> list[ForeignFile]:
    """One file with all weights, or a file for each of ``names`` next to the Program's."""
    older = [program.with_name(name) for name in _COMBINED]
    for path in (combined, *older):
        if path.exists():
            return [load_foreign(path, PADDLE_WEIGHTS)]
    if not names:
        return []
    strange = [n for n in names if n in ("", ".", "..") or any(c in n for c in "/\\:\0")]
    if strange:
        raise FormatError(
            f"{program}: {combined.name} is missing, and its weight {strange[0]!r:.80} is not the name of a "
            f"file; {_REMEDY}"
        )
    separate = [program.with_name(name) for name in names]
    if not all(path.exists() for path in separate):
        return [load_foreign(combined, PADDLE_WEIGHTS)]  # raises, and names the file
    return [load_foreign(path, PADDLE_WEIGHTS) for path in separate]
