"""Products of some rows with packed matrices: their tiles, and values against NumPy's."""

import ctypes

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import PROTOTYPE, function
from engine.kernels.fast.linalg import packed
from engine.kernels.fast.target import EXAMPLES, assumed
from engine.kernels.fast.vectors import F32, I64, Frame, ir


@pytest.mark.parametrize("isa", EXAMPLES)
@pytest.mark.parametrize(("rows", "last"), [(1, 1), (2, 2), (3, 1), (16, 16), (10, 7), (8, 3)])
def test_tiles_hold_all_rows_and_stay_in_registers(isa, rows, last):
    with assumed(EXAMPLES[isa]):
        for columns in (1, 16, 64, 75, 128, 512):
            found = packed.tiles(rows, last, columns, EXAMPLES[isa].lanes)
            assert sum(found.whole) == rows
            assert sum(found.last) == last
            tallest = max(found.whole + found.last)
            assert tallest * found.wide + (found.wide + 1) * (tallest > 1) <= EXAMPLES[isa].registers
            assert found.part == (columns % EXAMPLES[isa].lanes > 0)


def test_sixteen_rows_of_eight_vectors_fill_the_registers():
    with assumed(EXAMPLES["avx512"]):
        assert packed.tiles(16, 16, 128, 16)[:3] == ((6, 5, 5), (6, 5, 5), 4)


LANES = 4


@pytest.mark.parametrize("columns", [1, 4, 7, 8, 30])
@pytest.mark.parametrize("rows", [1, 5, 16])
@pytest.mark.parametrize("start", ["zero", "made", "row"])
def test_values_are_those_of_numpy(columns, rows, start):
    """Of two terms, the second of which has two matrices; with vectors of 4 on any CPU."""
    rng = np.random.default_rng(columns)
    tiles = packed.tiles(rows, rows, columns, LANES)

    def build(module, name):
        frame = Frame(module, name)
        b = frame.builder
        one, matrix, other, matrices, row, made = (frame.pointer(n) for n in range(6))
        terms = [
            packed.Term(one, I64(9), I64(6), matrix),
            packed.Term(
                other, I64(5), I64(5), matrices, 2, I64(5 * rows), I64(5 * -(-columns // LANES) * LANES)
            ),
        ]
        begin = row if start == "row" else start
        kind = ir.VectorType(F32, LANES)
        packed.product(b, kind, tiles, I64(rows), I64(columns), terms, made, begin)
        return frame.close()

    handle = function(f"test of packed products {columns} {rows} {start} {tiles}", build)
    assert handle.wait(60)
    one, matrix = (rng.standard_normal(s).astype(np.float32) for s in ((rows, 9), (1, 6, columns)))
    other, matrices = (rng.standard_normal(s).astype(np.float32) for s in ((2, rows, 5), (2, 5, columns)))
    row, made = (rng.standard_normal(s).astype(np.float32) for s in ((columns,), (rows, columns)))
    wanted = one[:, :6] @ matrix[0] + (other @ matrices).sum(0)
    wanted = wanted + {"zero": 0, "made": made, "row": row}[start]
    arrays = [
        one,
        packed.pack(matrix, tiles.wide, LANES),
        other,
        packed.pack(matrices, tiles.wide, LANES),
        row,
        made,
    ]
    args = (ctypes.c_int64 * 6)(*[address(a) for a in arrays])
    PROTOTYPE(handle.address)(args, 0, 1)
    np.testing.assert_allclose(made, wanted, rtol=1e-5, atol=1e-5)
