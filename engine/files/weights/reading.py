"""Weights that another program wrote, of whatever form, distinguished by content and read as plain values."""

from __future__ import annotations

import hashlib
import os
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.core.errors import AbsentError, DataError, FormatError
from engine.files import content
from engine.files.data.archives import readable
from engine.files.data.npz import NpzFile
from engine.files.paddle.pickle_arrays import PADDLE
from engine.files.paddle.pickles import SLACK, read_pickle
from engine.files.plain import StrPath
from engine.files.untrusted import guarded
from engine.files.untrusted.foreign import WEIGHTS
from engine.files.weights.safetensors import read_safetensors
from engine.files.weights.torch_zip import OLD_FORM, is_torch_zip, read_torch
from resources.regular_files import LARGE_FILE, open_regular, read_regular

PICKLE, TORCH, SAFETENSORS, NPZ = "paddle", "torch", "safetensors", "npz"
"""The forms: pickles of ``paddle.save``, ZIP archives of ``torch.save``, safetensors, arrays of NumPy."""
TITLES = {
    PICKLE: "a pickle of paddle.save",
    TORCH: "a checkpoint of PyTorch",
    SAFETENSORS: "safetensors",
    NPZ: "arrays of NumPy (.npz)",
}
_CODES = frozenset(("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "f2", "f4", "f8", "c8", "c16"))
_CHUNK = 1 << 20


@dataclass(frozen=True)
class ForeignWeights:
    """What a file holds: its form, nested plain values with arrays, and texts about it."""

    form: str
    value: Any
    metadata: dict[str, str] = field(default_factory=dict)


def foreign_form(path: StrPath) -> str:
    """The form of the weights at ``path``; empty for other files, and where there is none."""
    found = content.content_of(path)
    if found == content.ZIP:
        try:
            with open_regular(path) as file, zipfile.ZipFile(file) as archive:
                names = archive.namelist()
        except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
            return NPZ  # whose reader says what is wrong
        return TORCH if is_torch_zip(names) else NPZ
    return {content.PICKLE: PICKLE, content.SAFETENSORS: SAFETENSORS}.get(found, "")


def read_weights(path: StrPath) -> ForeignWeights:
    """Read weights that another program wrote; a child process with limits reads them first.

    Raises:
        DataError: there is no such file, or it can't be read.
        FormatError: it is of no such form, damaged, or holds what is neither an array nor a plain value.
    """
    place = Path(path)
    with readable(str(place)), open_regular(place) as file:
        length = os.fstat(file.fileno()).st_size
    guarded.check_by(guarded.CHILD, ("numpy", "h5py"), place, WEIGHTS, digest_of(place), length)
    return parse_weights(place)


def digest_of(path: Path) -> bytes:
    """The SHA-256 of a file. Raises DataError where it can't be read."""
    found = hashlib.sha256()
    with readable(str(path)), open_regular(path) as file:
        while piece := file.read(_CHUNK):
            found.update(piece)
    return found.digest()


def parse_weights(path: Path, shown: str | None = None) -> ForeignWeights:
    """As :func:`read_weights`, in this process alone; messages call the file ``shown``."""
    shown = str(path) if shown is None else shown
    form = foreign_form(path)
    if form == PICKLE:
        with readable(shown):
            data = read_regular(path, LARGE_FILE)
        if data.startswith(OLD_FORM):
            raise FormatError(
                f"{shown}: not loaded: it has the old form of PyTorch, before 1.6, which is not read; load "
                "it in PyTorch and save its state_dict() again with torch.save"
            )
        return ForeignWeights(form, read_pickle(data, shown, PADDLE))
    if form == TORCH:
        with readable(shown), open_regular(path) as file, zipfile.ZipFile(file) as archive:
            return ForeignWeights(form, read_torch(shown, archive, os.fstat(file.fileno()).st_size))
    if form == SAFETENSORS:
        with readable(shown):
            return ForeignWeights(form, *read_safetensors(path, shown))
    if form == NPZ:
        return ForeignWeights(form, _npz(path, shown))
    if not path.exists():
        raise AbsentError(f"{shown}: there is no such file; check the name")
    raise FormatError(
        f"{shown}: not weights of a known form; give a .pdparams, .safetensors, .npz, .pth or .pt file"
    )


def _npz(path: Path, shown: str) -> dict[str, Any]:
    file = NpzFile(path)
    found = {}
    for name, member in file.members.items():
        if member.dtype.str[1:] not in _CODES:
            raise FormatError(f"{shown}: {name[:80]!r} holds no numbers: {member.dtype}; save numbers")
    total, length = sum(member.bytes for member in file.members.values()), path.stat().st_size
    if total > 2 * length + SLACK:
        raise DataError(
            f"{shown}: its arrays take {total >> 20} MB, the file {length >> 20} MB; save it with "
            "numpy.savez, which does not compress"
        )
    for name in file.members:
        array = file.array(name)
        found[name] = array.astype("i8" if array.dtype.str[1:] == "u4" else array.dtype.newbyteorder("="))
    return found
