"""Convolutions in tiles: any cut agrees with plain sums, bitwise for any number of threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.kernels.cpu import conv_rows, pool, threads
from engine.kernels.cpu.conv_rows import Rows
from engine.ops.images.conv_plan import Plan
from tests.trials import trials

few = st.integers(0, 2)


@st.composite
def convolutions(draw: Any) -> tuple[Any, ...]:
    """Arguments of a plan."""
    groups = draw(st.integers(1, 2))
    taken, each = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    shape = (draw(st.integers(1, 3)), taken * groups, draw(st.integers(1, 9)), draw(st.integers(1, 9)))
    weight = (each * groups, taken, draw(st.integers(1, 3)), draw(st.integers(1, 4)))
    strides = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    pads = ((draw(few), draw(few)), (draw(few), draw(few)))
    dilations = (draw(st.integers(1, 3)), draw(st.integers(1, 2)))
    for n in (0, 1):
        assume(shape[2 + n] + sum(pads[n]) >= dilations[n] * (weight[2 + n] - 1) + 1)
    return shape, weight, strides, pads, dilations, groups


def written_out(plan: Plan, x: Any, weight: Any, g: Any) -> tuple[Any, Any, Any]:
    """Result and gradients, one entry of the filters after the other."""
    pads = ((0, 0), (0, 0), (plan.top, plan.full_height), (plan.left, plan.full_width))
    image = np.pad(x, pads)
    result, x_grad, weight_grad = np.zeros(g.shape), np.zeros(image.shape), np.zeros(weight.shape)
    for n, c, a, b in np.ndindex(*weight.shape):
        channel = n // plan.each * plan.taken + c
        place = (slice(None), channel, plan.row(a), plan.column(b))
        result[:, n] += weight[n, c, a, b] * image[place]
        x_grad[place] += weight[n, c, a, b] * g[:, n]
        weight_grad[n, c, a, b] = (image[place] * g[:, n]).sum()
    inside = slice(plan.top, plan.top + plan.height), slice(plan.left, plan.left + plan.width)
    return result, x_grad[:, :, *inside], weight_grad


def small_tiles(patch: Any, draw: Any) -> None:
    """Cut even tiny convolutions, into tiles and tasks of any size."""
    patch.setattr(conv_rows, "_WINDOW", int(draw.integers(1, 200)))
    patch.setattr(conv_rows, "_TILE", int(draw.integers(1, 1000)))
    patch.setattr(conv_rows, "_LINES", int(draw.integers(1, 500)))
    patch.setattr(conv_rows, "_COLUMNS", int(draw.integers(1, 20)))
    patch.setattr(conv_rows, "_SMALL", 1)
    patch.setattr(conv_rows, "_SHARED", 1)
    patch.setattr(conv_rows, "_TASK", int(draw.integers(1, 500)))
    patch.setattr(conv_rows, "_WIDE", int(draw.integers(1, 8)))


@trials(60)
@given(convolutions(), st.integers(0, 2**31))
def test_any_cut_equals_plain_sums(arguments: Any, seed: int) -> None:
    plan = Plan(np, *arguments)
    draw = np.random.default_rng(seed)
    x, weight = draw.standard_normal(arguments[0]), draw.standard_normal(arguments[1])
    if seed % 2:  # samples last, as a convolution leaves them
        x = np.ascontiguousarray(x.transpose(2, 1, 3, 0)).transpose(3, 1, 0, 2)
    g = draw.standard_normal((plan.samples, plan.filters, plan.oh, plan.ow))

    def finish(part: Any, filters: slice) -> None:
        assert filters == slice(None)
        part += 1.0

    with pytest.MonkeyPatch.context() as patch:
        small_tiles(patch, draw)
        rows = Rows(plan)
        result = rows.forward(x, weight, finish) - 1.0
        x_grad, weight_grad = rows.gradients(x, weight, g, True, True)
        assert rows.gradients(None, weight, g, True, False)[1] is None
        alone = rows.gradients(x, weight, g, False, True)
    assert alone[0] is None
    np.testing.assert_array_equal(alone[1], weight_grad)
    for got, want in zip((result, x_grad, weight_grad), written_out(plan, x, weight, g), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-11)


def large(seed: int) -> tuple[Plan, Any, Any, Any]:
    """A convolution that several tasks share."""
    draw = np.random.default_rng(seed)
    plan = Plan(np, (16, 24, 12, 12), (32, 24, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1)
    assert not plan.by_windows()
    assert Rows(plan).tasks > 1
    x = draw.standard_normal((16, 24, 12, 12), dtype=np.float32)
    weight = draw.standard_normal((32, 24, 3, 3), dtype=np.float32)
    return plan, x, weight, draw.standard_normal((16, 32, 12, 12), dtype=np.float32)


def computed(one: tuple[Plan, Any, Any, Any]) -> list[Any]:
    plan, x, weight, g = one
    return [plan.forward(x, weight), *plan.gradients(x, weight, g, True, True)]


def test_the_number_of_threads_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "_count", count)
        found.append(computed(large(3)))
        found.append(computed(large(3)))
    pool.dismiss()
    for other in found[1:]:
        for got, want in zip(other, found[0], strict=True):
            np.testing.assert_array_equal(got, want)


def test_two_threads_at_once_and_calls_from_tasks_compute_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_count", 2)
    want = computed(large(4))
    found: list[list[Any]] = []

    def work() -> None:
        for _ in range(4):
            found.append(computed(large(4)))

    other = threading.Thread(target=work)
    other.start()
    work()
    pool.run([work, work])  # each convolution does its tiles itself
    other.join()
    pool.dismiss()
    assert len(found) == 16
    for one in found:
        for got, expected in zip(one, want, strict=True):
            np.testing.assert_array_equal(got, expected)


def test_an_error_within_a_tile_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_count", 2)
    plan, x, weight, _ = large(5)

    def finish(part: Any, filters: slice) -> None:
        raise ZeroDivisionError("in a tile")

    with pytest.raises(ZeroDivisionError, match="in a tile"):
        plan.forward(x, weight, finish)
    again = plan.forward(x, weight)
    pool.dismiss()
    monkeypatch.setattr(threads, "_count", 1)
    np.testing.assert_array_equal(again, plan.forward(x, weight))
