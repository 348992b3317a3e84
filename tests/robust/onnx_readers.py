"""Attacks on ONNX files: bytes, fields of protobuf at any depth, and the structure of graphs."""

from __future__ import annotations

import functools
import random
from pathlib import Path
from typing import Any

from engine.core.errors import EngineError
from engine.files.paddle.fields import BYTES, VARINT, Budget, MalformedError, bytes_field, fields, int_field
from tests.robust.mutations import mutated_bytes
from tests.robust.reader import Reader

RECORDED = Path(__file__).parents[1] / "engine" / "onnx" / "recorded"
_NUMBERS = (0, 1, 2, 7, 8, 16, 255, 1 << 20, 1 << 31, (1 << 63) - 1, (1 << 64) - 1)
_TEXTS = (
    b"",
    b"x",
    b"scores",
    b"Loop",
    b"If",
    b"Reshape",
    b"Constant",
    b"\xff\xfe",
    b"../x",
    b"n" * 300,
    b"{0.x}",
)


@functools.cache
def samples() -> list[bytes]:
    """Recorded models, and one with branches, loops, sequences and a function."""
    return [*(path.read_bytes() for path in sorted(RECORDED.glob("*.onnx"))), _with_graphs()]


def _with_graphs() -> bytes:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    real, flag, whole = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64

    def info(name: str, kind: int, shape: Any = None) -> Any:
        return helper.make_tensor_value_info(name, kind, shape)

    body = helper.make_graph(
        [
            helper.make_node("Add", ["state", "x"], ["next"]),
            helper.make_node("Identity", ["again"], ["still"]),
            helper.make_node("Identity", ["next"], ["part"]),
        ],
        "body",
        [info("turn", whole, []), info("again", flag, []), info("state", real, ["n", 2])],
        [info("still", flag, []), info("next", real, ["n", 2]), info("part", real, ["n", 2])],
    )
    sides = [
        helper.make_graph(
            [helper.make_node(kind, ["last"], ["side"])], kind, [], [info("side", real, ["n", 2])]
        )
        for kind in ("Relu", "Neg")
    ]
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["total"], keepdims=0),
        helper.make_node("Greater", ["total", "zero"], ["positive"]),
        helper.make_node("Loop", ["turns", "positive", "x"], ["last", "parts"], body=body),
        helper.make_node("If", ["positive"], ["chosen"], then_branch=sides[0], else_branch=sides[1]),
        helper.make_node("SequenceConstruct", ["chosen", "last"], ["both"]),
        helper.make_node("SequenceAt", ["both", "one"], ["second"]),
        helper.make_node("twice", ["second"], ["y"], domain="own"),
    ]
    stored = [
        numpy_helper.from_array(np.array(value, kind), name)
        for name, value, kind in (("zero", 0, np.float32), ("turns", 3, np.int64), ("one", 1, np.int64))
    ]
    graph = helper.make_graph(
        nodes, "g", [info("x", real, ["n", 2])], [info("y", real), info("parts", real)], stored
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    added = helper.make_node("Add", ["a", "a"], ["b"])
    model.functions.append(helper.make_function("own", "twice", ["a"], ["b"], [added], opsets[:1]))
    content: bytes = model.SerializeToString()
    return content


def onnx_bytes(draw: random.Random) -> bytes:
    """A model with some bytes changed."""
    return mutated_bytes(draw.choice(samples()), draw, samples())


def onnx_fields(draw: random.Random) -> bytes:
    """A model one to four of whose fields, at any depth, are changed, repeated, omitted or moved."""
    content = samples()[-1] if draw.random() < 0.7 else draw.choice(samples())
    for _ in range(draw.randint(1, 4)):
        content = _changed(content, draw, 0)
    return content


def _changed(content: bytes, draw: random.Random, depth: int) -> bytes:
    try:
        found = list(fields(memoryview(content), Budget()))
    except MalformedError:  # not a message
        return mutated_bytes(content, draw, [])
    if not found:
        return draw.choice((b"", int_field(1, 1), bytes_field(1, b"x")))
    inner = [n for n, (_, wire, value) in enumerate(found) if wire == BYTES and len(value) > 1]  # type: ignore[arg-type]
    place = draw.choice(inner) if inner and draw.random() < 0.85 else draw.randrange(len(found))
    number, wire, value = found[place]
    parts = [_written(*field) for field in found]
    if wire == BYTES and depth < 8 and draw.random() < 0.8:
        parts[place] = bytes_field(number, _changed(bytes(value), draw, depth + 1))  # type: ignore[arg-type]
        return b"".join(parts)
    match draw.randrange(6):
        case 0:
            del parts[place]
        case 1:
            parts.insert(draw.randrange(len(parts) + 1), parts[place])
        case 2:
            parts.insert(draw.randrange(len(parts)), parts.pop(place))
        case 3:
            parts[place] = int_field(number, draw.choice(_NUMBERS))
        case 4:
            parts[place] = bytes_field(number, draw.choice(_TEXTS))
        case _:
            other = draw.choice(parts)
            parts[place] = bytes_field(draw.choice((number, 1, 5, 6, 7)), other)
    return b"".join(parts)


def _written(number: int, wire: int, value: Any) -> bytes:
    if wire == VARINT:
        return int_field(number, value)
    if wire == BYTES:
        return bytes_field(number, bytes(value))
    head = int_field(number, 0)[:-1]
    return (
        bytes([*head[:-1], head[-1] & 0xF8 | wire]) + bytes(value)
        if len(head) == 1
        else bytes_field(number, bytes(value))
    )


def read_onnx_file(content: bytes, folder: Path) -> object:
    """As ``onnx.load`` does in the process with limits, up to the Layer, which is shown."""
    from engine.jit.export import layer_of
    from engine.onnx.read_file import parse, read_content

    path = folder / "m.onnx"
    path.write_bytes(content)
    layer = layer_of(parse(read_content(path), path))
    return layer.program().to_string()


def onnx_readers() -> list[Reader]:
    return [
        Reader("onnx bytes", onnx_bytes, read_onnx_file, (EngineError,), 0, 256),
        Reader("onnx fields", onnx_fields, read_onnx_file, (EngineError,), 0, 256),
    ]
