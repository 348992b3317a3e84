"""Tensors as plain values."""

import base64
import json
import math

import numpy as np
import pytest

from engine.core.errors import ArgumentError
from engine.core.values.bfloat import narrow
from engine.debugger import views

MIXED = np.float32([[np.nan, np.inf, -np.inf, 0], [1, -3, 0, 2]])


def test_statistics_count_what_is_special():
    found = views.statistics(MIXED)
    assert (found["nan"], found["positive_infinite"], found["negative_infinite"], found["zero"]) == (
        1,
        1,
        1,
        2,
    )
    assert (found["minimum"], found["maximum"], found["mean"]) == (-3.0, 2.0, 0.0)
    assert found["norm"] == pytest.approx(math.sqrt(14))
    assert found["deviation"] == pytest.approx(math.sqrt(14 / 5))
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 3), np.float32),
        np.full(3, np.nan),
        np.float32(2),
        np.array([True, False]),
        np.array([1 + 2j, np.nan]),
        np.arange(5),
        np.float16([1e4, -1e4]),
        np.array([-1.7e308, 1.7e308]),
        narrow(np, np.float32([1, 2, np.inf])),
    ],
)
@pytest.mark.parametrize("kind", list(views.KINDS))
def test_each_view_of_each_kind_of_array_is_plain(array, kind):
    json.dumps(views.view(array, kind, {}), allow_nan=False)


def test_a_histogram_counts_each_finite_element_once():
    values = np.linspace(-2, 2, 1000)
    found = views.histogram(np.append(values, [np.nan, np.inf]), bins=10)
    assert (found["low"], found["high"], found["not_finite"]) == (-2.0, 2.0, 2)
    assert found["counts"] == np.histogram(values, 10)[0].tolist()
    assert views.histogram(np.full(7, 3.0))["counts"] == [7]


def test_channels_are_images_of_bounded_size():
    values = np.arange(2 * 5 * 6 * 8, dtype=np.float32).reshape(2, 5, 6, 8)
    found = views.image(values, sample=1, first=3, count=10, side=4)
    shown = np.frombuffer(base64.b64decode(found["values"]), "<f4")
    shape = found["channels"], found["rows"], found["columns"]
    np.testing.assert_array_equal(shown.reshape(shape), values[1, 3:, ::2, ::2])
    assert (found["total"], found["samples"], found["step"]) == (5, 2, 2)
    assert (found["low"], found["high"]) == (240.0, 479.0)
    large = views.image(np.zeros((1, 3000, 300, 300), np.uint8), count=3000)
    assert large["channels"] * large["rows"] * large["columns"] <= views.MOST_PIXELS
    last = views.image(np.moveaxis(values, 1, -1), sample=1, first=3, side=4, last=True)
    assert last["values"] == found["values"]


def test_a_table_is_read_in_pieces():
    found = views.rows(MIXED, row=0, column=1, count=1, width=3)
    assert found["values"] == [["inf", "-inf", 0.0]]
    assert (found["rows"], found["columns"]) == (2, 4)
    large = views.rows(
        np.broadcast_to(np.float32(1), (10**6, 10**3)), row=10**6 - 1, count=10**9, width=10**9
    )
    assert sum(map(len, large["values"])) <= views.MOST_CELLS
    assert views.rows(np.arange(4), row=2)["values"] == [[2], [3]]
    assert views.rows(np.array([1 + 2j]))["values"] == [["(1+2j)"]]


def test_unknown_views_and_options_are_refused():
    for kind, options, words in [
        ("picture", {}, "choose statistics"),
        ("histogram", {"bins": 10**6}, "from 1 to 512"),
        ("image", {"sample": 4}, "there are 1"),
        ("rows", {"colour": 1}, "colour"),
    ]:
        with pytest.raises(ArgumentError, match=words):
            views.view(MIXED, kind, options)
    with pytest.raises(ArgumentError, match="not a tensor"):
        views.view(None, "rows", {})
    assert views.view([MIXED, np.arange(3)], "rows", {"item": 1})["values"] == [[0], [1], [2]]


def test_a_sum_that_overflows_is_no_infinity():
    assert views.is_finite(np.full(4, 3e38, np.float32))
    assert not views.is_finite(np.float32([np.inf, -np.inf]))
    assert not views.is_finite(narrow(np, np.float32([np.nan])))
