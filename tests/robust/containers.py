"""Container files as an attacker makes them: right hashes, no signature, any bytes or HDF5 content inside."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from typing import Any

import h5py
import numpy as np

from engine.files.native.image import make_image
from engine.files.native.tree import to_stored
from engine.files.native.userblock import NO_SAVE_ID, SIZE, make_user_block, stated_kind

SAVE_ID = bytes(range(16))


def hashed(payload: bytes | memoryview, save_id: bytes = NO_SAVE_ID, kind: str = "") -> bytes:
    """A file of this payload with right lengths and hashes, which no installation signed."""
    return make_user_block(payload, save_id, None, kind) + bytes(payload)


def unsigned(data: bytes) -> bytes:
    """A file without its signature, with its save id and kind."""
    return hashed(data[SIZE:], data[56:72], stated_kind(data))


def container(kind: str, tree: Any, version: int = 1, save_id: bytes = SAVE_ID) -> bytes:
    """A file of this kind and tree. Raises DTypeError or ArgumentError for what no file holds."""
    return hashed(make_image(kind, version, tree)[SIZE:], save_id)


def forged(
    document: bytes, build: Callable[[h5py.File], None], kind: str = "state", latest: bool = False
) -> bytes:
    """A file with this document, whatever else ``build`` puts in."""
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", userblock_size=SIZE, libver="latest" if latest else "earliest") as file:
        for name, value in (("format", "Model Studio"), ("kind", kind), ("product", "another")):
            file.attrs.create(name, value, dtype=h5py.string_dtype("utf-8", len(value)))
        file.attrs.create("version", 1, dtype="<i8")
        file.create_dataset(
            "structure", data=np.array(document, h5py.string_dtype("utf-8", max(len(document), 1)))
        )
        build(file)
    return hashed(buffer.getvalue()[SIZE:])


_DTYPES = ["<f4", "<f8", "<i2", ">i4", "|u1", "<c8", "|b1", "<f2", "<u8", "S3", "<f4,<i4", "V4"]
SHAPES: list[tuple[int, ...]] = [
    (),
    (0,),
    (1,),
    (4,),
    (2, 3),
    (0, 2**40),
    (1,) * 20,
    (2**31,),
    (2**20, 2**20),
    (300,),
]
_NAMES = ["x", "y", "a/b", "x/y", "w%2E", "é", "..", ".", "a" * 300, "structure", "a//b"]


def dataset(file: h5py.Group, name: str, draw: random.Random) -> None:
    """A dataset of any shape, type and storage."""
    shape, dtype = draw.choice(SHAPES), draw.choice(_DTYPES)
    options: dict[str, Any] = {}
    size = int(np.prod(shape, dtype=object))
    if shape and size and draw.random() < 0.4:
        options["chunks"] = tuple(min(n, draw.choice((1, 2, 100))) for n in shape)
        filters: list[dict[str, Any]] = [
            {},
            {"compression": "gzip", "compression_opts": 9},
            {"compression": "lzf"},
            {"shuffle": True},
            {"fletcher32": True},
            {"maxshape": (None,) * len(shape)},
        ]
        options |= draw.choice(filters)
    elif shape and draw.random() < 0.15:
        options["external"] = [(draw.choice(("/etc/passwd", "other", "/dev/zero")), 0, h5py.h5f.UNLIMITED)]
    if size < 1000 and draw.random() < 0.6 and "external" not in options:
        file.create_dataset(name, data=np.zeros(shape, dtype), **options)
    else:
        file.create_dataset(name, shape, dtype, fillvalue=None, **options)


def _link(file: h5py.File, name: str, draw: random.Random) -> None:
    what = draw.randrange(5)
    if what == 0:
        file[name] = h5py.ExternalLink(draw.choice(("/etc/passwd", "\udc80", "x.h5")), "/x")
    elif what == 1:
        file[name] = h5py.SoftLink(draw.choice(("/structure", "/", name, ".", "/nowhere")))
    elif what == 2:
        file[name] = file["/"]  # the root within itself
    elif what == 3:
        file[name] = file[draw.choice([*file, "/"])]
    else:
        group = file.create_group(name)
        group["up"] = file["/"]


def _virtual(file: h5py.File, name: str, draw: random.Random) -> None:
    shape = draw.choice([(4,), (2, 2), (1000, 1000)])
    layout = h5py.VirtualLayout(shape, "f4")
    layout[...] = h5py.VirtualSource(
        draw.choice((".", "/etc/passwd", "other.h5")), draw.choice((name, "x")), shape
    )
    file.create_virtual_dataset(name, layout, fillvalue=1)


def _attributes(file: h5py.File, name: str, draw: random.Random) -> None:
    place = file[draw.choice([*file, "/"])] if draw.random() < 0.5 else file
    key = draw.choice(("format", "kind", "product", "version", "more", name))
    values: list[Any] = [
        0,
        -1,
        2**63 - 1,
        "state",
        b"\xff\xfe",
        np.zeros(1000),
        h5py.Empty("f4"),
        [["a"]],
        "x" * 60000,
    ]
    place.attrs[key] = draw.choice(values)


def _odd_type(file: h5py.File, name: str, draw: random.Random) -> None:
    what = draw.randrange(6)
    if what == 0:
        file.create_dataset(name, data=["a", "bb"], dtype=h5py.string_dtype())
    elif what == 1:
        file.create_dataset(name, data=[file.ref], dtype=h5py.ref_dtype)
    elif what == 2:
        file[name] = np.dtype(draw.choice(_DTYPES[:9]))
    elif what == 3:
        file.create_dataset(name, data=h5py.Empty("f4"))
    elif what == 4:
        file.create_dataset(name, data=[1, 0], dtype=h5py.enum_dtype({"a": 0, "b": 1}, basetype="i4"))
    else:
        file.create_dataset(name, (3,), dtype=h5py.vlen_dtype("f4"))


def _replaced_document(file: h5py.File, name: str, draw: random.Random) -> None:
    del file["structure"]
    draw.choice((dataset, _link, _virtual, _odd_type))(file, "structure", draw)


def changed(file: h5py.File, name: str, draw: random.Random) -> None:
    """Put something else at ``name``, as far as libhdf5 writes it."""
    try:
        if name in file:
            del file[name]
        draw.choice((dataset, _link, _virtual, _attributes, _odd_type))(file, name, draw)
    except (ValueError, TypeError, KeyError, OSError, RuntimeError, OverflowError, UnicodeError):
        return


_CHANGES = (dataset, dataset, _link, _virtual, _attributes, _odd_type, _replaced_document)


def attacked(draw: random.Random) -> bytes:
    """A file whose document names one to three arrays, and which holds something else."""
    wanted = {name: draw.choice(_DTYPES[:9]) for name in draw.sample(_NAMES, draw.randint(1, 3))}
    nodes = ",".join(
        f'"{n}":{{"$array":"/{name}","dtype":"{dtype}"}}' for n, (name, dtype) in enumerate(wanted.items())
    )

    def build(file: h5py.File) -> None:
        for name in (*wanted, *draw.sample(_NAMES, draw.choice((0, 0, 1, 2)))):
            try:
                if name in wanted and draw.random() < 0.7:
                    file.create_dataset(
                        name, data=to_stored(np.zeros(draw.choice(((), (0,), (3,), (2, 2))), wanted[name]))
                    )
                else:
                    draw.choice(_CHANGES)(file, name, draw)
            except (ValueError, TypeError, KeyError, OSError, RuntimeError, OverflowError, UnicodeError):
                continue  # libhdf5 does not write this

    return forged(f"{{{nodes}}}".encode(), build, latest=draw.random() < 0.3)
