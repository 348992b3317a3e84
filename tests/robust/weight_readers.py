"""Attacks on weights of other programs: pickles, checkpoints of PyTorch, safetensors, NPZ."""

from __future__ import annotations

import functools
import io
import json
import pickletools
import random
import struct
import zipfile
from pathlib import Path
from typing import Any

from engine.core.errors import EngineError
from tests.robust.mutations import ODD, json_text, mutated, mutated_bytes
from tests.robust.reader import Reader

FILES = Path(__file__).parents[1] / "engine/framework/recorded"
_SUFFIXES = (".pd", ".pdparams", ".pdopt", ".pth", ".pt", ".safetensors", ".npz")


@functools.cache
def samples() -> list[bytes]:
    """The smaller files that Paddle, PyTorch and their libraries wrote."""
    found = [path.read_bytes() for path in sorted(FILES.iterdir()) if path.suffix in _SUFFIXES]
    return [data for data in found if len(data) < 8000]


def weight_bytes(draw: random.Random) -> bytes:
    """A file with some bytes changed."""
    return mutated_bytes(draw.choice(samples()), draw, samples())


def weight_structures(draw: random.Random) -> bytes:
    """A file with opcodes, entries or the header changed, sound in its outer form."""
    data = draw.choice(samples())
    if data.startswith(b"\x80"):
        return _other_opcodes(data, draw)
    if data.startswith(b"PK"):
        return _other_entries(data, draw)
    return _other_header(data, draw)


@functools.cache
def _opcodes(data: bytes) -> list[bytes]:
    """The opcodes of a pickle with their arguments."""
    starts = [place for _, _, place in pickletools.genops(data)]
    return [data[a:b] for a, b in zip(starts, [*starts[1:], len(data)], strict=True)]


_TEMPTING = (
    b"cos\nsystem\n",
    b"cbuiltins\neval\n",
    b"ctorch._utils\n_rebuild_tensor_v2\n",
    b"cnumpy\ndtype\n",
    b"X\x02\0\0\0O8",
    b"h\0",
    b"(",
    b"0",
    b"R",
    b"b",
    b"Q",
    b"]\x94",
    b"}",
    b"\x85",
    b"u",
    b"e",
    b"\x93",
    b"J\xff\xff\xff\xff",
    b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f",
)


def _other_opcodes(data: bytes, draw: random.Random) -> bytes:
    """One to four opcodes replaced, repeated, moved, removed or added."""
    try:
        found = list(_opcodes(data))
    except ValueError:
        return mutated_bytes(data, draw, [])
    for _ in range(draw.choice((1, 1, 2, 4))):
        at, what = draw.randrange(1, len(found)), draw.randrange(5)
        if what == 0:
            found[at] = draw.choice(found)
        elif what == 1:
            found[at:at] = found[at : at + draw.choice((1, 3, 10))] * draw.choice((1, 2, 1000))
        elif what == 2:
            del found[at : at + draw.choice((1, 2, 5))]
        elif what == 3:
            found[at:at] = [draw.choice(_TEMPTING)] * draw.choice((1, 1, 2, 20_000))
        else:
            found[at] = mutated_bytes(found[at], draw, [])
        if len(found) < 2:
            break
    return b"".join(found)


def _other_entries(data: bytes, draw: random.Random) -> bytes:
    """An archive with a changed file, a renamed, missing, repeated or compressed one; the checksums fit."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    at = draw.randrange(len(files))
    name, content = files[at]
    what = draw.random()
    if what < 0.6:
        pickle = next((n for n, (each, _) in enumerate(files) if each.endswith(".pkl")), at)
        at = pickle if draw.random() < 0.7 else at
        name, content = files[at]
        changed = _other_opcodes if content.startswith(b"\x80") and draw.random() < 0.8 else mutated_bytes
        files[at] = (
            name,
            changed(content, draw) if changed is _other_opcodes else mutated_bytes(content, draw, []),
        )
    elif what < 0.75:
        others = ("../x", "/etc/passwd", "data.pkl", name + "0", f"{name}/", "x/data.pkl", "a.npy")
        files[at] = (draw.choice(others), content)
    elif what < 0.85:
        del files[at]
    else:
        files.append((draw.choice(files)[0], draw.choice(files)[1]))
    packed = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if draw.random() < 0.2 else zipfile.ZIP_STORED
    with zipfile.ZipFile(packed, "w", method) as archive:
        for entry, held in files:
            archive.writestr(zipfile.ZipInfo(entry or "x"), held, method)
    return packed.getvalue()


def _other_header(data: bytes, draw: random.Random) -> bytes:
    """safetensors with another header, whose length fits, or does not."""
    (length,) = struct.unpack("<Q", data[:8])
    header: Any = json.loads(data[8 : 8 + length])
    if draw.random() < 0.5:
        chosen = draw.choice([facts for name, facts in header.items() if name != "__metadata__"])
        key = draw.choice(("dtype", "shape", "data_offsets"))
        odd = [*ODD, [0, 6], [6, 0], [0, 1 << 62], "BF16", "F64", [3, 1 << 61], [-1, -3]]
        chosen[key] = draw.choice(odd)
        text = json_text(header, draw)
    else:
        text = json_text(mutated(header, draw), draw)
    stated = len(text) if draw.random() < 0.9 else draw.choice((0, 1, len(text) + 1, 1 << 20, 1 << 63))
    return struct.pack("<Q", stated) + text + data[8 + length :]


def read_weight_file(data: bytes, folder: Path) -> object:
    """As ``load`` reads a file, without the child process: this is one."""
    from engine.files.weights.reading import parse_weights
    from engine.jit.saved.foreign_states import values_of

    path = folder / "w.pth"
    path.write_bytes(data)
    return values_of(parse_weights(path), return_numpy=True, path=str(path))


def weight_readers() -> list[Reader]:
    """The readers of weights."""
    ours = (EngineError,)
    return [
        Reader("weights, bytes", weight_bytes, read_weight_file, ours, 0, 72),
        Reader("weights, structure", weight_structures, read_weight_file, ours, 0, 72),
    ]
