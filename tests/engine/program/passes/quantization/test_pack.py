"""Weights that hold integers are stored as such if only their dequantization reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.program.graph.check import check
from engine.program.passes.quantization.pack import drop_zero_points, pack_integers
from tests.engine.program.passes.test_passes import text

ONE = """
        x: float32[3, 2]
        s: weight float32[1]
        w: weight float32[2, 2]
        b = dequantize_linear(w, s, quant_axis=-1, bit_length={bits})
        z = mul(x, b)
        {more}
        return {outputs}
"""


def packed(values: Any, bits: int = 8, more: str = "", outputs: str = "z") -> str:
    """The dtype that the weight has afterwards; the results of the Program stay the same."""
    program = text.program_of(ONE.format(bits=bits, more=more, outputs=outputs))
    weight = program.global_block().var("w")
    weight.tensor._array[:] = values
    fed = {"x": np.random.default_rng(0).random((3, 2), np.float32)}
    before = text.values_of(program, fed)
    found = pack_integers([program])
    check(program)
    for one, other in zip(before, text.values_of(program, fed), strict=True):
        np.testing.assert_array_equal(one, other)
    assert bool(found) is (weight.dtype.name != "float32")
    assert weight.tensor._array.dtype == weight.dtype.np
    return weight.dtype.name


@pytest.mark.parametrize(
    ("values", "bits", "dtype"),
    [
        ([[127, -128], [0, 3]], 8, "int8"),
        ([[7, -8], [0, 3]], 4, "int8"),
        ([[127, -128], [0, 3]], 9, "int16"),
        ([[32767, -32768], [0, 3]], 16, "int16"),
        ([[128, 0], [0, 3]], 8, "float32"),
        ([[0.5, 0], [0, 3]], 8, "float32"),
        ([[np.nan, 0], [0, 3]], 8, "float32"),
        ([[np.inf, 0], [0, 3]], 8, "float32"),
    ],
)
def test_weights_with_integer_values_are_stored_as_integers(values: Any, bits: int, dtype: str) -> None:
    assert packed(values, bits) == dtype


def test_weights_that_other_operators_read_stay() -> None:
    whole = [[1, 2], [3, 4]]
    assert packed(whole, more="y = tanh(w)", outputs="z, y") == "float32"
    assert packed(whole, more="y = dequantize_linear(w, s, quant_axis=-1)", outputs="z, y") == "int8"
    assert packed(whole, outputs="z, w") == "float32"
    assert (
        packed(whole, more="y = dequantize_linear(w, s, quant_axis=-1, only_observer=True)", outputs="z, y")
        == "float32"
    )


def test_programs_that_share_a_weight_agree() -> None:
    first, second, third = (text.program_of(ONE.format(bits=8, more="", outputs="z")) for _ in range(3))
    shared = first.global_block().var("w").tensor
    shared._array[:] = 2
    second.bind(second.global_block().var("w"), shared)
    found = pack_integers([first, second])
    made = found[id(shared)]
    assert [p.global_block().var("w").tensor for p in (first, second)] == [made, made]
    reads = text.program_of("""
        w: weight float32[2, 2]
        z = tanh(w)
        return z
    """)
    weight = third.global_block().var("w").tensor
    weight._array[:] = 2
    reads.bind(reads.global_block().var("w"), weight)
    assert pack_integers([third, reads]) == {}


def test_zero_points_that_are_zero_are_omitted() -> None:
    before = """
        x: float32[3, 2]
        s: weight float32[1]
        zero: weight float32[1]
        other: weight float32[1]
        q = quantize_linear(x, s, zero, quant_axis=-1)
        a = dequantize_linear(q, s, other, quant_axis=-1)
        return a
    """
    program = text.program_of(before)
    names = program.global_block().vars
    names["zero"].tensor._array[:] = 0
    fed = {"x": np.random.default_rng(0).random((3, 2), np.float32)}
    expected = text.values_of(program, fed)
    drop_zero_points(program)
    check(program)
    np.testing.assert_array_equal(text.values_of(program, fed), expected)
    assert "quantize_linear(x, s, quant_axis=-1)" in text.text_of(program)
    assert "dequantize_linear(q, s, other, quant_axis=-1)" in text.text_of(program)
    assert "zero" not in program.global_block().vars
    assert "other" in program.global_block().vars
