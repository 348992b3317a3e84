"""Attacks on data that users bring to a training: NPZ, HDF5 and CSV files, and folders of images."""

from __future__ import annotations

import contextlib
import io
import json
import random
import struct
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from engine.core.errors import EngineError
from tests.robust.corpus import sample
from tests.robust.mutations import mutated_bytes
from tests.robust.reader import Reader


def _load(path: Path, **options: Any) -> object:
    """As a training begins, and as the page Data shows it."""
    from engine.training.data import load_data
    from engine.training.sources.options import DataOptions

    splits = load_data(str(path), 0, DataOptions(**options))
    return splits.train[0], splits.test[len(splits.test) - 1]


def _npy(array: np.ndarray) -> bytes:
    packed = io.BytesIO()
    np.save(packed, array)
    return packed.getvalue()


@cache
def _arrays() -> dict[str, bytes]:
    return {"x.npy": _npy(np.zeros((6, 4, 4), np.uint8)), "y.npy": _npy(np.array([0, 1, 0, 1, 0, 1]))}


_HEADERS = (
    b"{'descr': '|O', 'fortran_order': False, 'shape': (6, 4, 4), }",
    b"{'descr': '<U0', 'fortran_order': True, 'shape': (6, 0, 4), }",
    b"{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (12,), }",
    b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000), }",
    b"{'descr': '<f4', 'fortran_order': False, 'shape': (-6, 4L), }",
    b"{'descr': '<M8[s]', 'fortran_order': False, 'shape': (12,), }",
    b"{'descr': '<f4', 'fortran_order': False, 'shape': " + b"-" * 8000 + b"1}",
    b"{'descr': ('<f4', (4, 4)), 'fortran_order': False, 'shape': (6,)}",
    b"(" * 150,
    b"{'descr': \n",
    b"'''",
    b"",
)


def npz_case(draw: random.Random) -> bytes:
    """Arrays with other headers and bytes, packed in any way; then the archive's own bytes changed."""
    files = dict(_arrays())
    name = draw.choice(list(files))
    what = draw.random()
    if what < 0.35:
        header = draw.choice(_HEADERS)
        header = mutated_bytes(header, draw, list(_HEADERS)) if draw.random() < 0.5 else header
        version = draw.choice((b"\1\0", b"\1\0", b"\2\0", b"\3\0"))
        length = struct.pack("<H" if version == b"\1\0" else "<I", len(header) & 0xFFFF)
        files[name] = b"\x93NUMPY" + version + length + header[:0xFFFF] + bytes(draw.choice((0, 96, 500)))
    elif what < 0.6:
        files[name] = mutated_bytes(files[name], draw, list(files.values()))
    packed = io.BytesIO()
    kind = draw.choice(
        (zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    )
    with zipfile.ZipFile(packed, "w", kind) as archive:
        for each, data in files.items():
            archive.writestr(each, data)
    data = packed.getvalue()
    return mutated_bytes(data, draw, [data]) if what > 0.6 else data


def read_npz(data: bytes, folder: Path) -> object:
    (folder / "data.npz").write_bytes(data)
    return _load(folder / "data.npz", input_name="x", label_name="y")


_TABLE = b'width,height,class\n1.5,2,cat\n3,4e1,dog\n5,5,"cat"\n6,-1,dog\n7,8,cat\n9,10,dog\n'
_ODD_FIELDS = (
    b"1_000",
    b"1e999",
    "²".encode(),
    b"9" * 5000,
    b'"',
    b'"a',
    b"infinity",
    b"0x1p3",
    b"\r",
    b";" * 50,
)


def csv_case(draw: random.Random) -> bytes:
    table = draw.choice((_TABLE, _TABLE.replace(b",", b"\t"), _TABLE.partition(b"\n")[2]))
    if draw.random() < 0.3:
        return table.replace(
            draw.choice((b"1.5", b"cat", b"4e1", b"dog", b"class")), draw.choice(_ODD_FIELDS)
        )
    return mutated_bytes(table, draw, [table])


def read_csv(data: bytes, folder: Path) -> object:
    (folder / "data.csv").write_bytes(data)
    return _load(folder / "data.csv")


@cache
def _hdf5_files() -> tuple[bytes, ...]:
    import h5py

    found = []
    options: dict[str, Any]
    for options in (
        {},
        {"chunks": (2, 4, 4)},
        {"chunks": (4, 2, 3), "compression": "gzip", "shuffle": True, "fletcher32": True},
    ):
        for latest in ("earliest", "latest"):
            packed = io.BytesIO()
            with h5py.File(packed, "w", libver=latest) as file:
                file.create_dataset("x", data=np.zeros((6, 4, 4), np.uint8), **options)
                file.create_dataset("y", data=np.array([0, 1, 0, 1, 0, 1]))
            found.append(packed.getvalue())
    return tuple(found)


def hdf5_case(draw: random.Random) -> bytes:
    data = draw.choice(_hdf5_files())
    return b"\x89HDF\r\n\x1a\n" + mutated_bytes(data, draw, list(_hdf5_files()))[8:]


def read_hdf5(data: bytes, folder: Path) -> object:
    (folder / "data.h5").write_bytes(data)
    return _load(folder / "data.h5", input_name="x", label_name="y")


def _look(command: Any, *, input: bytes, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """What the child that looks into a file answers, from a fork of this process."""
    from engine.files.untrusted.hdf5_layout_child import datasets
    from tests.robust.guarded_cases import in_a_fork

    def answer() -> str:
        import h5py

        request = json.loads(input)
        try:
            with h5py.File(request["path"], "r") as file:
                found = datasets(file, request["most_objects"], request["most_chunks"])
                return json.dumps({"datasets": found})
        except Exception as error:
            return json.dumps({"refused": " ".join(str(error).split())[:300]})

    return in_a_fork(command, answer, 4.0)


@contextlib.contextmanager
def _forked_looks() -> Iterator[None]:
    from engine.files.untrusted import hdf5_layout

    stand_in: Any = SimpleNamespace(run=_look, TimeoutExpired=subprocess.TimeoutExpired)
    hdf5_layout.subprocess = stand_in
    try:
        yield
    finally:
        hdf5_layout.subprocess = subprocess


def read_hdf5_forked(data: bytes, folder: Path) -> object:
    with _forked_looks():
        return read_hdf5(data, folder)


def folder_case(draw: random.Random) -> dict[str, bytes]:
    images = [sample(f"digit.{kind}") for kind in ("png", "jpg", "gif", "bmp", "tif", "webp", "ppm")]
    files: dict[str, bytes] = {}
    split = draw.choice(("", "", "train/"))
    for name in ("a", "b") if not split else ("train/a", "train/b", "test/a", "test/b"):
        for place in range(2):
            data = draw.choice(images)
            suffix = draw.choice(("png", "jpg", "gif", "bmp", "tif", "webp", "ppm", "PNG"))
            changed = mutated_bytes(data, draw, images) if draw.random() < 0.3 else data
            files[f"{name}/{place}.{suffix}"] = changed
    if draw.random() < 0.5:
        files["classes.txt"] = mutated_bytes(b"a\nb\n", draw, [])
    return files


def read_folder(files: dict[str, bytes], folder: Path) -> object:
    import shutil

    place = folder / "pictures"
    shutil.rmtree(place, ignore_errors=True)
    for name, data in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    color = ("auto", "grey", "rgb")[len(files.get("classes.txt", b"")) % 3]
    return _load(place, resize=len(files) % 3 * 8, color=color)


def source_readers() -> list[Reader]:
    """The readers of data for a training."""
    make: Callable[[random.Random], Any] = hdf5_case
    ours = (EngineError,)
    return [
        Reader("source NPZ", npz_case, read_npz, ours, 16, 128),
        Reader("source CSV", csv_case, read_csv, ours, 16, 128),
        Reader("source folder of images", folder_case, read_folder, ours, 8, 512),
        Reader("source HDF5, forked", make, read_hdf5_forked, ours, 0, 128, processes=True),
    ]
