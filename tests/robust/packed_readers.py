"""Attacks on packed models: bytes with the hash made right again, compressed chunks, HDF5 structures."""

from __future__ import annotations

import functools
import io
import random
import zlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from engine.core.errors import EngineError
from engine.files.native import compressed
from engine.files.native.checked import Expected, check_bytes, decode
from engine.files.native.image import GROUPS, make_image
from engine.files.native.userblock import SIZE
from engine.files.packed import KIND, VERSION
from tests.robust.containers import SHAPES, changed, dataset, hashed
from tests.robust.mutations import mutated_bytes
from tests.robust.reader import Reader

FILES = Path(__file__).parents[1] / "golden/files/0.1.0/packed"


@functools.cache
def samples() -> list[bytes]:
    """The payloads of packed models: those of the golden files, and one with several chunks."""
    weights = {"w": np.arange(3000, dtype=np.float32).reshape(1000, 3)}
    before, compressed.CHUNK = compressed.CHUNK, 2000
    try:
        made = make_image(KIND, VERSION, {"program": {}, "params": weights, "info": {}}, compress=True)
    finally:
        compressed.CHUNK = before
    return [*(path.read_bytes()[SIZE:] for path in sorted(FILES.glob("*.h5"))), bytes(made[SIZE:])]


def packed_bytes(draw: random.Random) -> bytes:
    """A file with some bytes changed, or one of its chunks replaced by another stream."""
    payload = draw.choice(samples())
    if draw.random() < 0.3:
        return hashed(_other_chunk(payload, draw))
    return hashed(mutated_bytes(payload, draw, samples()))


def _other_chunk(payload: bytes, draw: random.Random) -> bytes:
    """The payload with a stream of zlib (they begin with 78 9C at this level) replaced, in place."""
    starts = [place for place in range(len(payload) - 1) if payload[place : place + 2] == b"\x78\x9c"]
    if not starts:
        return mutated_bytes(payload, draw, [])
    start = draw.choice(starts)
    stream = zlib.compress(bytes(draw.choice((0, 1, 12, 3000, 2 << 20))), draw.choice((0, 1, 9)))
    return payload[:start] + stream[: len(payload) - start] + payload[start + len(stream) :]


def packed_structures(draw: random.Random) -> bytes:
    """A file of three groups whose documents name one to three arrays, and which holds something else."""
    buffer = io.BytesIO()
    libver = draw.choice((("earliest", "v108"), ("v110", "v110"), ("latest", "latest")))
    with h5py.File(buffer, "w", userblock_size=SIZE, libver=libver) as file:
        for name, value in (("format", "Model Studio"), ("kind", KIND), ("product", "another")):
            file.attrs.create(name, value, dtype=h5py.string_dtype("utf-8", len(value)))
        file.attrs.create("version", 1, dtype="<i8")
        for name in GROUPS[KIND]:
            _group(file.create_group(name), draw)
        if draw.random() < 0.2:
            changed(file, draw.choice((*GROUPS[KIND], "more")), draw)
    return hashed(buffer.getvalue()[SIZE:])


def _group(group: h5py.Group, draw: random.Random) -> None:
    wanted = {
        name: draw.choice(("<f4", "<i8", "|u1", "<c8")) for name in draw.sample("xyz", draw.randint(0, 3))
    }
    nodes = ",".join(f'"{n}":{{"$array":"/{n}","dtype":"{dtype}"}}' for n, dtype in wanted.items())
    document = f"{{{nodes}}}".encode()
    group.create_dataset("structure", data=np.array(document, h5py.string_dtype("utf-8", len(document))))
    for name, dtype in wanted.items():
        try:
            if draw.random() < 0.4:
                dataset(group, name, draw)
                continue
            shape = draw.choice([shape for shape in SHAPES if 0 < len(shape) < 4])
            rows = min(shape[0], draw.choice((1, 2, 7, 100)))
            options: dict[str, Any] = {"chunks": (max(rows, 1), *shape[1:]), "compression": "gzip"}
            options["shuffle"] = draw.random() < 0.8
            small = int(np.prod(shape, dtype=object)) < 1000
            stored = "<f4" if dtype == "<c8" else dtype
            if small:
                group.create_dataset(name, data=np.zeros(shape, stored), **options)
            else:  # declared, and never written: a file without chunks
                group.create_dataset(name, shape, stored, **options)
        except (ValueError, TypeError, KeyError, OSError, RuntimeError, OverflowError):
            continue  # libhdf5 does not write this


def read_packed_bytes(data: bytes, folder: Path) -> object:
    """What the reader of packed models parses."""
    shown = Path("file.h5")
    return decode(Expected(shown, KIND, VERSION), check_bytes(data, shown), data).tree


def packed_readers() -> list[Reader]:
    """The readers of packed models."""
    ours = (EngineError,)
    return [
        Reader("packed model, bytes", packed_bytes, read_packed_bytes, ours, 0, 512, contained=True),
        Reader(
            "packed model, HDF5 structures",
            packed_structures,
            read_packed_bytes,
            ours,
            0,
            512,
            contained=True,
        ),
    ]
