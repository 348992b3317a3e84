"""Attacks on container files: bytes, text, documents and HDF5 structures, with hashes made right again."""

from __future__ import annotations

import functools
import json
import random
from pathlib import Path
from typing import Any

from engine.core.errors import EngineError
from engine.files.native.checked import Expected, check_bytes, decode
from engine.files.native.userblock import SIZE
from tests.robust.containers import attacked, hashed
from tests.robust.corpus import names, sample
from tests.robust.mutations import json_text, mutated, mutated_bytes
from tests.robust.reader import Reader

KINDS = ("state", "run", "checkpoint", "inference.program", "inference.weights", "inference.info")


@functools.cache
def containers() -> list[bytes]:
    """The container files of the corpus."""
    return [sample(name) for name in names() if sample(name).startswith(b"\x89MSF")]


def decoded(data: bytes) -> Any:
    shown = Path("file.h5")
    return decode(Expected(shown, KINDS, 9), check_bytes(data, shown), data).tree


@functools.cache
def tree(name: str) -> Any:
    """The tree of a container file of the corpus."""
    return decoded(sample(name))


def raw_container(draw: random.Random) -> bytes:
    """Any bytes of a file changed, or a file of another program; the hash detects it."""
    foreign = [sample(name) for name in ("harm.pickle", "weights.npz", "digit.png")]
    data = draw.choice(containers() if draw.random() < 0.9 else foreign)
    if draw.random() < 0.5:  # in the first block
        return mutated_bytes(data[:SIZE], draw, [data[SIZE:]]) + data[SIZE:]
    return mutated_bytes(data, draw, containers())


def rehashed_container(draw: random.Random) -> bytes:
    """The HDF5 part changed, and the hash made right again."""
    payload = draw.choice(containers())[SIZE:]
    return hashed(mutated_bytes(payload, draw, [data[SIZE:] for data in containers()]))


def document_in_place(draw: random.Random) -> bytes:
    """The document of a file changed without changing its length, and the hash made right again."""
    payload = draw.choice(containers())[SIZE:]
    start = payload.index(b'{"')
    end = payload.index(b"\0\0\0\0", start) if b"\0\0\0\0" in payload[start:] else len(payload)
    document = payload[start:end]
    changed = mutated_bytes(document, draw, [])[: len(document)].ljust(len(document))
    return hashed(payload[:start] + changed + payload[end:])


def tree_document(draw: random.Random) -> bytes:
    """A document of a tree: tags, paths and types changed."""
    return json_text(mutated(draw.choice(_documents()), draw), draw)


@functools.cache
def _documents() -> list[Any]:
    from engine.files.native.tree import encode_tree

    return [
        json.loads(encode_tree(tree(name))[0]) for name in ("state.pdparams", "step-00000002.h5", "run.h5")
    ]


def read_document(document: bytes, folder: Path) -> object:
    """What image.py does with a document, with an array wherever it names one."""
    import numpy as np

    from engine.files.native.image import ImageError
    from engine.files.native.tree import TreeError, decode_tree, parse_document

    try:
        node, wanted = parse_document(document)
        return decode_tree(node, {path: np.zeros(2, dtype) for path, dtype in wanted.items()})
    except (TreeError, RecursionError) as error:
        raise ImageError(str(error)) from error


def _read(data: bytes, folder: Path) -> object:
    return decoded(data)


def container_readers() -> list[Reader]:
    """The readers of container files."""
    from engine.files.native.image import ImageError

    ours = (EngineError,)
    return [
        Reader("container, raw bytes", raw_container, _read, ours, 100),
        Reader("container, rehashed bytes", rehashed_container, _read, ours, 100, 512, contained=True),
        Reader("container, text in place", document_in_place, _read, ours, 60, 512, contained=True),
        Reader("container, HDF5 structures", attacked, _read, ours, 15, 512, contained=True),
        Reader("document of a tree", tree_document, read_document, (ImageError,), 90),
    ]
