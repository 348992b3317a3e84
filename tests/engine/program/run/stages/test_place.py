"""The stage ``place``: arrays that results are written into, values that die, outputs that are copied.

An operator writes into an input's array only where an eager call lays its result out alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.program.run.stages.draft import Draft
from engine.program.run.stages.place import fitting, place
from tests.engine.program.run.stages.drafts import chosen


def test_arrays_of_equal_layout_are_reused() -> None:
    plain = np.zeros((2, 3, 4, 4))
    turned = np.zeros((4, 4, 2, 3)).transpose(2, 3, 0, 1)
    assert fitting(plain) is plain
    assert fitting(turned, np.ones_like(turned), np.zeros(3)) is turned
    assert fitting(np.zeros((1, 3, 1))[:, ::1]) is not None


def test_arrays_of_another_layout_are_not_reused() -> None:
    plain = np.zeros((2, 3, 4, 4))
    turned = np.zeros((4, 4, 2, 3)).transpose(2, 3, 0, 1)
    inner = np.zeros((2, 3, 6, 6))[:, :, 1:5, 1:5]
    assert fitting(plain, turned) is None
    assert fitting(turned, plain) is None
    assert fitting(inner) is None
    assert fitting(plain, inner) is None


@pytest.mark.parametrize("part", [lambda a: a[0], lambda a: a[:, :1]], ids=["row", "column"])
def test_an_array_that_is_also_read_through_a_view_is_not_written_into(
    part: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.kernels.cpu.fused_elementwise.LARGE", 1 << 16)

    def run(x: Any, w: Any) -> Any:
        a = paddle.matmul(x, w)
        return paddle.exp((a - part(a)) * 0.01) + 1

    rng = np.random.default_rng(3)
    x, w = (paddle.to_tensor(rng.standard_normal(s).astype("float32")) for s in ((256, 16), (16, 256)))
    with paddle.no_grad():
        want, converted = run(x, w).numpy(), paddle.jit.to_static(run)
        for _ in range(2):  # a chain is cut into blocks in its second run
            np.testing.assert_allclose(converted(x, w).numpy(), want, rtol=1e-5)


def _named(draft: Draft) -> tuple[dict[str, list[str | None]], dict[int, list[str]], set[str]]:
    """``reused`` by the first result of the operators, ``dying`` and ``copied``, all by names."""
    reused = {
        o.outputs[0].name: [None if v is None else v.name for v in draft.reused[id(o)]]
        for o in draft.ops
        if id(o) in draft.reused
    }
    dying = {position: [v.name for v in values] for position, values in draft.dying.items()}
    return reused, dying, {draft.outputs[n].name for n in draft.copied}


CHAIN = """
    x: float32[2, 3]
    a = relu(x)
    b = exp(a)
    c = reshape2(b, shape=[6])
    d = tanh(b)
    e = elementwise_add(c, c)
    return d, e, x
"""


def test_a_result_takes_the_array_of_an_input_that_nothing_reads_later() -> None:
    reused, dying, copied = _named(place(chosen(CHAIN)))
    # d may not take the array of b: c is a view of it. e may not take that of c, which is b's.
    assert reused == {"b": ["a"]}
    assert dying == {1: ["a"], 3: ["b"], 4: ["c"]}
    assert copied == {"x"}


def test_arguments_die_only_where_the_plan_consumes_them() -> None:
    text = "x: float32[2]\ny: float32[2]\na = exp(x)\nb = elementwise_add(a, y)\nreturn b"
    assert _named(place(chosen(text)))[1] == {1: ["a"]}
    assert _named(place(chosen(text, consumes=True)))[1] == {0: ["x"], 1: ["a", "y"]}


def test_a_view_of_an_argument_is_copied_and_known_values_stay() -> None:
    draft = chosen(
        """
        x: float32[2, 3]
        a = reshape2(x, shape=[6])
        k = fill_constant(shape=[6], value=1.0, dtype='float32')
        b = elementwise_add(a, k)
        return a, k, b
        """
    )
    _, dying, copied = _named(place(draft))
    assert not dying
    assert copied == {"a", "k"}
