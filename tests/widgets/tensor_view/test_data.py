"""Where the cells of a tensor's table are."""

from __future__ import annotations

import numpy as np
import pytest

from widgets.tensor_view.data import Statistics, cell_at, index_at, row_title, table_shape


@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 4), (2, 1, 3, 2)])
def test_each_number_has_one_cell(shape: tuple[int, ...]) -> None:
    values = np.arange(int(np.prod(shape))).reshape(shape)
    rows, columns = table_shape(shape)
    table = values.reshape(rows, columns)
    for row in range(rows):
        for column in range(columns):
            index = index_at(shape, row, column)
            assert values[index] == table[row, column]
            assert cell_at(shape, index) == (row, column)


def test_a_table_without_numbers_has_no_cells() -> None:
    assert table_shape((0,)) == (0, 1)
    assert table_shape((4, 0)) == (4, 0)


@pytest.mark.parametrize("index", [(0,), (0, 0, 0), (2, 0), (0, -1)])
def test_an_index_outside_is_refused(index: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"no index .* in the shape \[2, 3\]"):
        cell_at((2, 3), index)


def test_rows_are_named_by_the_leading_indices() -> None:
    assert row_title((2, 3, 4), 5) == "1, 2"
    assert row_title((7,), 6) == "6"
    assert row_title((), 0) == ""
    assert row_title((2**40, 8), 2**40 - 1) == str(2**40 - 1)


def test_values_that_are_not_finite_are_summed() -> None:
    assert Statistics(9, 1, 2, 3).not_finite == 6
