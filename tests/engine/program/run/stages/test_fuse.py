"""The stage ``fuse``: from operators to fewer ones, and groups of updates."""

from __future__ import annotations

import pytest

from engine.kernels.cpu import fused_elementwise
from engine.program.run.fusion import elementwise as of_plans
from engine.program.run.stages import fuse as stage
from engine.program.run.stages.fuse import fuse
from tests.engine.program.run.stages.drafts import chosen, shown

CHAIN = """
    x: float32[2, 3]
    y: float32[2, 3]
    a = elementwise_add(x, y)
    b = relu(a)
    c = matmul_v2(b, x, trans_y=True)
    return c, a
"""


@pytest.fixture(autouse=True)
def _everything_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "compiles", lambda: True)
    monkeypatch.setattr(of_plans, "LEAST", 1)
    monkeypatch.setattr(fused_elementwise, "LARGE", 1)


def test_elementwise_operators_become_one_that_gives_what_is_read() -> None:
    before = chosen(CHAIN)
    after = fuse(before, passes=1)
    assert shown(before) == ["elementwise_add", "relu", "matmul_v2"]
    assert shown(after) == ["[elementwise_add relu]", "matmul_v2"]
    assert [v.name for v in after.ops[0].outputs] == ["a", "b"]
    assert (after.outputs, after.specs) == (before.outputs, before.specs)


def test_level_0_and_metered_programs_keep_their_operators() -> None:
    draft = chosen(CHAIN)
    assert fuse(draft, passes=0) is draft
    foreign = chosen(CHAIN, foreign=True)
    assert fuse(foreign, passes=1) is foreign


def test_attention_becomes_one_operator() -> None:
    draft = chosen(
        """
        q: float32[2, 4, 3]
        k: float32[2, 4, 3]
        v: float32[2, 4, 3]
        s = matmul_v2(q, k, trans_y=True)
        w = softmax(s)
        o = matmul_v2(w, v)
        return o
        """
    )
    assert shown(fuse(draft, passes=1)) == ["fused_attention"]


def test_neighbouring_updates_are_a_group() -> None:
    draft = chosen(
        """
        g: float32[3]
        rate: float32[]
        u: weight float32[3]
        w: weight float32[3]
        p = sgd(u, rate, g)
        r = sgd(w, rate, g)
        a = matmul_v2(g, g)
        return a
        """
    )
    assert fuse(draft, passes=1).groups == [[0, 1]]
    assert not draft.groups
