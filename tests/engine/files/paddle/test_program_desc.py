"""ProgramDesc from bytes and back: equal to protobuf's, limits, damaged messages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import FormatError
from engine.core.program_desc import Attr, AttrType, BlockDesc, OpDesc, ProgramDesc, VarDesc
from engine.files.paddle import fields as pb
from engine.files.paddle.fields import Budget, MalformedError
from engine.files.paddle.lod_tensor import combined_parts, parse_lod_tensors
from engine.files.paddle.program_desc import parse_program, program_bytes

# Made by make_recorded.py with the protobuf classes of paddlepaddle 2.6.2.
RECORDED = (Path(__file__).parent / "recorded" / "all_attributes.pdmodel").read_bytes()


def test_a_program_of_protobuf_is_read_and_written_to_the_same_bytes() -> None:
    program = parse_program(RECORDED, "x.pdmodel")
    [block] = program.blocks
    assert (program.version, program.op_versions, block.parent) == (2006002, {"leaky_relu": 1}, -1)
    assert block.vars[0] == VarDesc("w_0", 7, 5, [-1, 300], persistable=True, stop_gradient=True)
    assert [v.dtype for v in block.vars] == [5, None, None, 3]
    [operator] = block.ops
    assert operator.inputs == {"X": ["w_0", "é"], "Y": []}
    assert {name: attr.value for name, attr in operator.attrs.items()} == {
        "int": -3,
        "float": 0.001,
        "string": "SAME",
        "ints": [1, -1],
        "floats": [0.1, 1e-5],
        "strings": ["a", ""],
        "boolean": True,
        "booleans": [True, False],
        "block": 1,
        "long": 1 << 40,
        "blocks": [1, 2],
        "longs": [-(1 << 40), 7],
        "float64s": [0.1],
        "var": "w_0",
        "vars": ["w_0", "o"],
        "float64": 1e300,
        "scalar": 0.5,
        "scalars": [True, 5, 0.5, 1j],
    }
    assert program_bytes(program) == RECORDED


def _nested(depth: int) -> bytes:
    return program_bytes(ProgramDesc([BlockDesc(n, n - 1) for n in range(depth)]))


def _op(desc: OpDesc) -> bytes:
    return program_bytes(ProgramDesc([BlockDesc(0, -1, [], [desc])]))


HOSTILE = {
    "no blocks": (b"", "it has no blocks"),
    "cut": (RECORDED[:-3], "bytes where"),
    "blocks nested too deep": (_nested(66), "nested more than 64 deep"),
    "a block that is its own parent": (program_bytes(ProgramDesc([BlockDesc(0, 0)])), "block 0"),
    "a name twice": (
        program_bytes(ProgramDesc([BlockDesc(0, -1, [VarDesc("x"), VarDesc("x")])])),
        "variable 'x' is declared twice",
    ),
    "no UTF-8": (_op(OpDesc("zq")).replace(b"zq", b"\xff\xff"), "is not UTF-8"),
    "an attribute without a value": (
        pb.bytes_field(
            1,
            pb.int_field(1, 0)
            + pb.int_field(2, -1)
            + pb.bytes_field(4, pb.bytes_field(3, "x") + pb.bytes_field(4, b"\x0a\x01a\x10\x00")),
        ),
        "attribute 'a' has 0 values",
    ),
    "a group": (b"\x0b", "wire type 3"),
    "an endless number": (b"\x0a" + b"\xff" * 11, "has no end"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_damaged_program_is_refused_with_one_line(name: str) -> None:
    data, reason = HOSTILE[name]
    with pytest.raises(FormatError, match=reason) as caught:
        parse_program(data, "x.pdmodel")
    assert str(caught.value).startswith("x.pdmodel: ")
    assert "\n" not in str(caught.value)


def test_fields_above_the_budget_are_refused_before_they_take_memory() -> None:
    budget = Budget(1000)
    with pytest.raises(MalformedError, match="more than 1000 fields"):
        list(pb.fields(memoryview(b"\x0a\x00" * 1001), budget))
    with pytest.raises(MalformedError, match="more than 1000 fields"):
        pb.integers(pb.BYTES, memoryview(b"\x01" * 1001), Budget(1000))


@pytest.mark.parametrize(("value", "bits"), [(0.001, 0.001), (1e40, float("inf")), (-0.0, -0.0)])
def test_a_float_of_32_bits_is_read_as_its_shortest_decimal(value: float, bits: float) -> None:
    [(_, wire, data)] = pb.fields(memoryview(pb.float_field(4, value)), Budget())
    assert pb.floats(wire, data, Budget()) == [bits]


def test_arrays_are_written_by_name_and_read_again_bit_for_bit() -> None:
    arrays = {
        "b": np.arange(6, dtype=np.uint16).reshape(2, 3),  # bfloat16
        "a": np.array([True, False]),
        "d": np.array(2.5, np.float64),
        "c": np.zeros((0, 3), np.int8),
        "e": np.asfortranarray(np.arange(6, dtype=">f4").reshape(2, 3)),
    }
    data = b"".join(bytes(part) for part in combined_parts(arrays))
    found = parse_lod_tensors(data, len(arrays), "w.pdiparams")
    for name, array in zip(sorted(arrays), found, strict=True):
        assert array.shape == arrays[name].shape
        assert array.dtype == arrays[name].dtype.newbyteorder("=")
        np.testing.assert_array_equal(array, arrays[name])
    assert parse_lod_tensors(b"", 0, "w.pdiparams") == []


def test_an_unknown_type_of_attribute_is_refused() -> None:
    data = _op(OpDesc("x", attrs={"a": Attr(AttrType.INT, 1)})).replace(
        b"\x0a\x01a\x10\x00", b"\x0a\x01a\x10\x63"
    )
    with pytest.raises(FormatError, match="attribute 'a' has the unknown type 99"):
        parse_program(data, "x.pdmodel")
