"""Attention in plans: which operators become one, which do not, and that values and gradients stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import static
from engine.kernels.choice import kernels
from engine.kernels.cpu import attention as blocks
from engine.nn import functional as F
from engine.program.run.plan import Plan
from tests.engine.fresh_static import fresh_static

FORWARD, BACKWARD = "fused_attention", "fused_attention_grad"


def hand_written(q: Any, k: Any, v: Any, mask: Any) -> Any:
    scores = paddle.matmul(q, paddle.transpose(k, [0, 1, 3, 2])) * 0.25
    return paddle.matmul(F.softmax(scores if mask is None else scores + mask), v)


def scaled_before(q: Any, k: Any, v: Any, mask: Any) -> Any:
    scores = paddle.matmul(q * 0.25, k, transpose_y=True)
    return paddle.matmul(F.softmax(scores if mask is None else mask + scores), v)


def heads(x: Any) -> Any:
    return paddle.transpose(x, [0, 2, 1, 3])


def of_projections(q: Any, k: Any, v: Any, mask: Any) -> Any:
    """As in MultiHeadAttention: heads are views of rows, and put side by side again."""
    out, _ = F.attention.attend("test", heads(q), heads(k), heads(v), mask)
    return paddle.reshape(heads(out), [0, 0, -1])


def with_dropout(q: Any, k: Any, v: Any, mask: Any) -> Any:
    return heads(F.attention.attend("test", heads(q), heads(k), heads(v), mask, 0.5)[0])


WAYS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "hand_written": (hand_written, (2, 3, 5, 4)),
    "scaled_before": (scaled_before, (2, 3, 5, 4)),
    "of_projections": (of_projections, (2, 5, 3, 4)),
    "with_dropout": (with_dropout, (2, 5, 3, 4)),
}
MASKS = {
    "none": None,
    "rows": (5, 5),
    "samples": (2, 1, 1, 5),
    "one": (1,),
    "full": (2, 3, 5, 5),
    "column": (3, 5, 1),
}


def plan_of(
    way: str,
    mask: tuple[int, ...] | None = None,
    dtype: str = "float32",
    passes: int = 1,
    shape: tuple[int, ...] | None = None,
    learned: bool = False,
    xp: Any = np,
    results: int | None = None,
) -> tuple[Plan, list[Any]]:
    """The plan of an attention with its gradients, or of the first ``results``, and values for its inputs."""
    build, usual = WAYS[way]
    shape = shape or usual
    random = np.random.default_rng(0)
    with fresh_static():
        program = static.default_main_program()
        names = {"q": shape, "k": shape, "v": shape, "g": shape}
        if mask is not None:
            names["mask"] = mask
        data = {n: static.data(n, list(s), dtype) for n, s in names.items()}
        given = {n: random.standard_normal(s).astype(dtype) for n, s in names.items()}
        leaves = [data[n] for n in ("q", "k", "v", *(["mask"] if learned else []))]
        for each in leaves:
            each.stop_gradient = False
        out = build(data["q"], data["k"], data["v"], data.get("mask"))
        flow = paddle.reshape(data["g"], out.shape)
        gradients = static.gradients([out], leaves, [flow])
    block, inputs = program.global_block(), list(data.values())
    specs = {v.name: v.spec for v in inputs}
    plan = Plan(program, block.ops, inputs, [out, *gradients][:results], specs, xp, passes=passes)
    return plan, [given[v.name] for v in inputs]


def rows_are_summed_alike() -> bool:
    """Whether BLAS sums a row to the same bits whatever rows are next to it. OpenBLAS without AVX-512 takes
    four rows at once, and the last ones in another way."""
    x, ones = np.random.default_rng(0).standard_normal((30, 5)).astype("float32"), np.ones(5, "float32")
    return bool(np.array_equal(x @ ones, [row @ ones for row in x]))


def assert_same(got: Any, want: Any) -> None:
    """The bits of the single operators; of blocks within rounding where a block's sums may differ."""
    if blocks.BLOCK == 16 and not rows_are_summed_alike():
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)
    else:
        np.testing.assert_array_equal(got, want)


def names(plan: Plan) -> list[str]:
    return [o.opdef.name for o in plan.ops]


@pytest.fixture(autouse=True, params=["whole", "blocks"])
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "blocks":
        monkeypatch.setattr(blocks, "BLOCK", 16)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("way", WAYS)
def test_attention_becomes_one_operator_with_the_same_bits(way: str, mask: str) -> None:
    with kernels.guard("numpy"):
        plan, given = plan_of(way, MASKS[mask])
        plain, _ = plan_of(way, MASKS[mask], passes=0)
    left = [n for n in names(plan) if n not in ("transpose2", "reshape2")]
    dropped = way == "with_dropout"
    assert left == [*(["fused_scores", "dropout", "matmul_v2"] if dropped else [FORWARD]), BACKWARD]
    assert {FORWARD, BACKWARD, "fused_scores"}.isdisjoint(names(plain))
    paddle.seed(7)
    wanted = plain(given)
    paddle.seed(7)
    for got, want in zip(plan(given), wanted, strict=True):
        assert_same(got, want)


@pytest.mark.parametrize("way", [way for way in WAYS if way != "with_dropout"])
def test_the_gradient_of_a_mask_keeps_the_operators_of_the_gradient(way: str) -> None:
    with kernels.guard("numpy"):
        plan, given = plan_of(way, (2, 1, 5, 5), learned=True)
        plain, _ = plan_of(way, (2, 1, 5, 5), passes=0, learned=True)
    assert FORWARD in names(plan)
    assert BACKWARD not in names(plan)
    for got, want in zip(plan(given), plain(given), strict=True):
        assert_same(got, want)


def test_weights_that_are_read_are_given() -> None:
    with fresh_static():
        program = static.default_main_program()
        q, k, v = (static.data(n, [2, 3, 8, 4], "float32") for n in "qkv")
        out, weights = F.attention.attend("test", q, k, v)
    specs = {x.name: x.spec for x in (q, k, v)}
    plan = Plan(program, program.global_block().ops, [q, k, v], [out, weights], specs)
    assert names(plan) == [FORWARD]
    given = [np.random.default_rng(n).standard_normal((2, 3, 8, 4)).astype("float32") for n in range(3)]
    plain = Plan(program, program.global_block().ops, [q, k, v], [out, weights], specs, passes=0)
    for got, want in zip(plan(given), plain(given), strict=True):
        assert_same(got, want)


def test_scores_that_are_read_keep_the_operators() -> None:
    with fresh_static():
        program = static.default_main_program()
        q, k, v = (static.data(n, [2, 3, 8, 4], "float32") for n in "qkv")
        scores = paddle.matmul(q, k, transpose_y=True)
        out = paddle.matmul(F.softmax(scores), v)
    specs = {x.name: x.spec for x in (q, k, v)}
    plan = Plan(program, program.global_block().ops, [q, k, v], [out, scores], specs)
    assert names(plan) == ["matmul_v2", "softmax", "matmul_v2"]


def test_dropout_and_second_derivatives_are_as_before() -> None:
    paddle.seed(3)
    x = paddle.to_tensor(np.random.default_rng(1).standard_normal((2, 4, 2, 4)), stop_gradient=False)

    def dropped(x: Any) -> Any:
        return F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)

    def twice(x: Any) -> Any:
        (g,) = paddle.grad(F.scaled_dot_product_attention(x, x, x).sum(), x, create_graph=True)
        return paddle.grad((g * g).sum(), x)[0]

    for function in (dropped, twice):
        paddle.seed(5)
        want = function(x).numpy()
        paddle.seed(5)
        np.testing.assert_allclose(paddle.jit.to_static(function)(x).numpy(), want, rtol=1e-12, atol=1e-12)


def test_an_input_that_is_written_between_keeps_the_operators() -> None:
    @paddle.jit.to_static
    def changed(q: Any, k: Any) -> Any:
        k = k + 0.0
        scores = F.softmax(paddle.matmul(q, k, transpose_y=True))
        paddle.assign(k * 2.0, k)
        return paddle.matmul(scores, k)

    q, k = (paddle.to_tensor(np.random.default_rng(n).standard_normal((2, 3, 4))) for n in range(2))
    weights = F.softmax(paddle.matmul(q, k, transpose_y=True))
    np.testing.assert_allclose(changed(q, k).numpy(), paddle.matmul(weights, k * 2.0).numpy(), rtol=1e-12)
