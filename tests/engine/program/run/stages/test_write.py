"""The stage ``write``: from a draft to the source of a function, and the function."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from engine.core.errors import LimitError
from engine.core.models.limits import model_limits
from engine.program.run.stages.draft import Draft
from engine.program.run.stages.place import place
from engine.program.run.stages.write import write
from tests.engine.program.run.stages.drafts import chosen


def source(draft: Draft) -> str:
    return write(draft).source


def same(found: str, expected: str) -> None:
    assert found == textwrap.dedent(expected).lstrip()


CHAIN = """
    x: float32[2]
    a = exp(x)
    b = sqrt(a)
    return b, x
"""


def test_slots_are_locals_and_kernels_globals() -> None:
    written = write(place(chosen(CHAIN)))
    same(
        written.source,
        """
        def plan(values):
         v0, = values
         v1 = c0(v0)
         v2 = c1(v1, out=fitting(v1))
         v1 = None
         return (v2, v0.copy(),)
        """,
    )
    x = np.array([0.5, 1.0], "float32")
    b, same_x = written.function([x])
    np.testing.assert_array_equal(b, np.sqrt(np.exp(x)))
    assert same_x is not x
    assert [written.lines[n].opdef.name for n in (3, 4)] == ["exp", "sqrt"]
    assert [call.opdef.name for call in written.called.values()] == ["exp", "sqrt"]


def test_without_a_place_every_result_is_allocated() -> None:
    same(
        source(chosen(CHAIN)),
        """
        def plan(values):
         v0, = values
         v1 = c0(v0)
         v2 = c1(v1)
         return (v2, v0,)
        """,
    )


def test_attributes_constants_and_lists_are_arguments() -> None:
    draft = chosen(
        """
        x: float32[2, 2]
        k = fill_constant(shape=[2, 2], value=2.0, dtype='float32')
        a = concat([x, k], axis=1)
        b, m = dropout(a, dropout_prob=0.5, is_test=True)
        return b
        """
    )
    text = source(draft)
    assert "v1 = c1(xp, [v0, c0], axis=1)" in text or "(xp, [v0, c" in text
    assert "key=reserve()" in text
    assert "fill_constant" not in [o.opdef.name for o in write(draft).lines.values()]


def test_a_result_in_place_is_written_into_its_input() -> None:
    draft = chosen(
        """
        g: float32[2]
        rate: float32[]
        w: weight float32[2]
        p = sgd(w, rate, g)
        return g
        """
    )
    written = write(place(draft))
    assert " write(v2, w0)\n" in written.source
    w = np.array([1.0, 2.0], "float32")
    written.function([np.array([1.0, 1.0], "float32"), np.array(0.5, "float32"), w])
    assert w.tolist() == [0.5, 1.5]


def test_a_consuming_plan_empties_its_arguments() -> None:
    written = write(place(chosen("x: float32[2]\na = exp(x)\nb = tanh(a)\nreturn b", consumes=True)))
    values = [np.zeros(2, "float32")]
    written.function(values)
    assert not values


def test_a_foreign_program_is_metered() -> None:
    written = write(place(chosen(CHAIN, foreign=True)))
    assert written.source.count("made(") == 2
    with model_limits(seconds=1e-9), pytest.raises(LimitError, match="exp: the model runs longer"):
        written.function([np.zeros(2, "float32")])
