"""Each pass alone: a Program as text before, and after."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import numpy as np
import pytest

from engine.program.graph.check import check
from engine.program.graph.program import Program
from engine.program.passes.common_subexpressions import merge_common_subexpressions
from engine.program.passes.dead_code import remove_dead_code
from engine.program.passes.drop_unread_gradients import drop_unread_gradients
from engine.program.passes.fold_batch_norm import fold_batch_norms
from engine.program.passes.fold_constants import fold_constants
from engine.program.passes.fold_weights import fold_weights
from engine.program.passes.fuse_convolution import fuse_convolutions
from engine.program.passes.move_relus import move_relus
from tests.engine.program.passes import text


def after(rewrite: Callable[[Program], None], before: str) -> str:
    """The text of a Program after a pass, which is well-formed and gives the same values."""
    program, changed = text.program_of(before), text.program_of(before)
    rewrite(changed)
    check(changed)
    feeds = {}
    for name in program.inputs:
        spec = program.global_block().var(name).spec
        feeds[name] = np.random.default_rng(7).uniform(0.1, 1.0, spec.shape).astype(spec.dtype.np)
    for one, other in zip(text.values_of(program, feeds), text.values_of(changed, feeds), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)
    result: str = text.text_of(changed)
    return result


def same(found: str, expected: str) -> None:
    assert found == textwrap.dedent(expected).strip()


# -- dead code ---------------------------------------------------------------------------------------------


def test_unread_operators_are_removed() -> None:
    found = after(
        remove_dead_code,
        """
        x: float32[2]
        a = relu(x)
        b = exp(a)
        c = tanh(x)
        return c
    """,
    )
    same(
        found,
        """
        c = tanh(x)
        return c
    """,
    )


def test_effects_stay(capsys: pytest.CaptureFixture[str]) -> None:
    found = after(
        remove_dead_code,
        """
        x: float32[2]
        a = exp(x)
        p = print(a, message='seen')
        c = tanh(x)
        return c
    """,
    )
    same(
        found,
        """
        a = exp(x)
        p = print(a, message='seen')
        c = tanh(x)
        return c
    """,
    )
    assert capsys.readouterr().out.count("seen") == 2


# -- constants ---------------------------------------------------------------------------------------------


def test_constants_become_one_value() -> None:
    found = after(
        fold_constants,
        """
        x: float32[2]
        a = fill_constant(None, shape=[2], value=3.0)
        b = square(a)
        c = elementwise_mul(x, b)
        return c
    """,
    )
    same(
        found,
        """
        a = fill_constant(shape=[2], value=3.0)
        b = assign_value(shape=[2], values=[9.0, 9.0])
        c = elementwise_mul(x, b)
        return c
    """,
    )


def test_random_numbers_and_large_values_are_not_constants() -> None:
    before = """
        r = uniform_random(None, shape=[2], min=2.0, max=2.0)
        s = square(r)
        a = fill_constant(None, shape=[40, 40], value=3.0)
        b = square(a)
        return s, b
    """
    found = after(fold_constants, before)
    assert "assign_value" not in found
    assert found.count("square") == 2


def test_operators_that_fail_are_left_for_the_run_to_explain() -> None:
    program = text.program_of("""
        a = fill_constant(None, shape=[2], value=1, dtype='int64')
        b = fill_constant(None, shape=[2], value=9, dtype='int64')
        c = gather(b, b)
        return c
    """)
    fold_constants(program)
    assert "gather" in text.text_of(program)


def test_values_computed_from_weights_become_weights() -> None:
    found = after(
        fold_weights,
        """
        x: float32[2, 3]
        w: weight float32[3, 3]
        a = scale(w, scale=2.0)
        b = transpose2(a, axis=[1, 0])
        c = matmul_v2(x, b)
        return c
    """,
    )
    same(
        found,
        """
        c = matmul_v2(x, b)
        return c
    """,
    )


def test_a_weight_that_is_written_is_not_folded() -> None:
    found = after(
        fold_weights,
        """
        x: float32[3]
        w: weight float32[3]
        a = scale(w, scale=2.0)
        n = assign_into(w, x)
        return a
    """,
    )
    assert "a = scale(w, scale=2.0)" in found


# -- common subexpressions ---------------------------------------------------------------------------------


def test_equal_operators_are_merged() -> None:
    found = after(
        merge_common_subexpressions,
        """
        x: float32[2]
        a = exp(x)
        b = exp(x)
        c = scale(a, scale=2.0)
        d = scale(b, scale=2.0)
        e = elementwise_add(c, d)
        return e
    """,
    )
    same(
        found,
        """
        a = exp(x)
        b = exp(x)
        c = scale(a, scale=2.0)
        d = scale(a, scale=2.0)
        e = elementwise_add(c, c)
        return e
    """,
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("scale(x, scale=1.0)", "scale(x, scale=1)"),
        ("scale(x, scale=0.0)", "scale(x, scale=-0.0)"),
        ("cast(x, out_dtype='float64')", "cast(x, out_dtype='float32')"),
        ("exp(x)", "exp(y)"),
    ],
)
def test_operators_that_differ_are_not_merged(first: str, second: str) -> None:
    program = text.program_of(f"""
        x: float32[2]
        y: float32[2]
        a = {first}
        b = {second}
        return a, b
    """)
    merge_common_subexpressions(program)
    assert program.outputs == ["a", "b"]
    assert len({id(program.global_block().var(n)) for n in program.outputs}) == 2


def test_random_numbers_and_effects_never_merge() -> None:
    program = text.program_of("""
        x: float32[2]
        r = uniform_random(None, shape=[2])
        s = uniform_random(None, shape=[2])
        t = elementwise_sub(r, s)
        p = print(x)
        q = print(x)
        u = elementwise_sub(p, q)
        return t, u
    """)
    before = text.text_of(program)
    merge_common_subexpressions(program)
    assert text.text_of(program) == before


def test_reads_before_and_after_a_write_differ() -> None:
    program = text.program_of("""
        x: float32[3]
        w: weight float32[3]
        a = exp(w)
        n = assign_into(w, x)
        b = exp(w)
        c = elementwise_sub(a, b)
        return c
    """)
    before = text.text_of(program)
    merge_common_subexpressions(program)
    assert text.text_of(program) == before


def test_two_equal_outputs_keep_their_names() -> None:
    found = after(
        merge_common_subexpressions,
        """
        x: float32[2]
        a = exp(x)
        b = exp(x)
        return a, b
    """,
    )
    same(
        found,
        """
        a = exp(x)
        b = exp(x)
        return a, b
    """,
    )


# -- convolutions ------------------------------------------------------------------------------------------

CONV = """
        x: float32[2, 3, 6, 6]
        w: weight float32[4, 3, 3, 3]
        bias: weight float32[4]
        a = conv2d(x, w)
        b = reshape2(bias, shape=[1, 4, 1, 1])
        c = elementwise_add(a, b)
"""


def test_a_convolution_its_bias_and_a_relu_are_one_operator() -> None:
    found = after(fuse_convolutions, CONV + "        d = relu(c)\n        return d")
    same(
        found,
        """
        b = reshape2(bias, shape=[1, 4, 1, 1])
        d = conv2d_fusion(x, w, bias, activation='relu')
        return d
    """,
    )


GRADIENT = """
        x: float32[2, 3, 6, 6]
        g: float32[2, 4, 4, 4]
        w: weight float32[4, 3, 3, 3]
        a, b = conv2d_grad(x, w, g)
"""


def test_a_gradient_of_a_convolution_that_nothing_reads_is_not_computed() -> None:
    found = after(drop_unread_gradients, GRADIENT + "        c = tanh(b)\n        return c")
    assert "need_x=False" in found
    assert "need_weight=False" not in found
    found = after(drop_unread_gradients, GRADIENT + "        return a")
    assert "need_weight=False" in found
    found = after(drop_unread_gradients, GRADIENT + "        c = tanh(b)\n        return c, a")
    assert "need" not in found


def test_without_a_relu_the_bias_is_fused() -> None:
    found = after(fuse_convolutions, CONV + "        d = tanh(c)\n        return d")
    same(
        found,
        """
        b = reshape2(bias, shape=[1, 4, 1, 1])
        conv2d_fusion_0.tmp_0 = conv2d_fusion(x, w, bias)
        d = tanh(conv2d_fusion_0.tmp_0)
        return d
    """,
    )


@pytest.mark.parametrize("also", ["a", "c"])
def test_values_that_are_read_elsewhere_are_not_fused_away(also: str) -> None:
    found = after(fuse_convolutions, CONV + f"        d = relu(c)\n        return d, {also}")
    assert found.splitlines()[-1] == f"return d, {also}"
    assert ("conv2d_fusion" in found) is (also == "c")


@pytest.mark.parametrize(("place", "fused"), [(0, True), (1, False), (2, False), (3, False), (4, True)])
def test_updated_weights_are_fused_if_all_reads_are_on_one_side(place: int, fused: bool) -> None:
    """A training step as one Program updates its weights at its end."""
    lines = [line.strip() for line in CONV.strip().splitlines()]
    given = ["rate: float32[1]", "g: float32[4]", *lines[:3]]
    steps = [*lines[3:], "d = relu(c)"]
    steps.insert(place, "n = sgd(bias, rate, g)")
    text = "\n".join([*given, *steps, "return d"])
    assert ("conv2d_fusion" in after(fuse_convolutions, text)) is fused


def test_channels_last() -> None:
    found = after(
        fuse_convolutions,
        """
        x: float32[2, 6, 6, 3]
        w: weight float32[4, 3, 3, 3]
        bias: weight float32[4]
        a = conv2d(x, w, data_format='NHWC')
        c = elementwise_add(a, bias)
        d = relu(c)
        return d
    """,
    )
    same(
        found,
        """
        d = conv2d_fusion(x, w, bias, activation='relu', data_format='NHWC')
        return d
    """,
    )


NORM = """
        scale: weight float32[4]
        shift: weight float32[4]
        mean: weight float32[4]
        variance: weight float32[4]
"""


@pytest.mark.parametrize("source", ["a", "c"])
def test_batch_norm_becomes_part_of_the_convolution(source: str) -> None:
    def folded(program: Program) -> None:
        for rewrite in (
            remove_dead_code,
            fold_batch_norms,
            fuse_convolutions,
            fold_weights,
            remove_dead_code,
        ):
            rewrite(program)

    norm = f"        y, m, v, s, t = batch_norm({source}, scale, shift, mean, variance, is_test=True)\n"
    found = after(folded, CONV + NORM + norm + "        d = relu(y)\n        return d")
    assert [line.partition(" = ")[2].partition("(")[0] for line in found.splitlines()[:-1]] == [
        "conv2d_fusion"
    ]


@pytest.mark.parametrize(
    ("groups", "left"), [(1, ["conv2d_transpose", "elementwise_add"]), (2, ["batch_norm"])]
)
def test_batch_norm_becomes_part_of_a_transposed_convolution(groups: int, left: list[str]) -> None:
    def folded(program: Program) -> None:
        for rewrite in (fold_batch_norms, fold_weights, remove_dead_code):
            rewrite(program)

    found = after(
        folded,
        f"""
        x: float32[2, 6, 5, 5]
        w: weight float32[6, {4 // groups}, 3, 3]
        bias: weight float32[4]
{NORM}
        a = conv2d_transpose(x, w, groups={groups})
        b = reshape2(bias, shape=[1, 4, 1, 1])
        c = elementwise_add(a, b)
        y, m, v, s, t = batch_norm(c, scale, shift, mean, variance, is_test=True)
        return y
    """,
    )
    made = [line.partition(" = ")[2].partition("(")[0] for line in found.splitlines()[:-1]]
    assert made[-len(left) :] == left


def test_batch_norm_in_training_stays() -> None:
    norm = "        y, m, v, s, t = batch_norm(a, scale, shift, mean, variance)\n        return y\n"
    program = text.program_of(CONV + NORM + norm)
    before = text.text_of(program)
    fold_batch_norms(program)
    assert text.text_of(program) == before


# -- relus and poolings ------------------------------------------------------------------------------------


def _pooled(relus: str, pooling: str = "max", ceil: bool = False) -> str:
    return f"""
        x: float32[1, 2, 5, 5]
        a = scale(x, scale=-2.0, bias=1.0)
        b = relu(a)
        c = pool2d(b, pooling_type={pooling!r}, ksize=[2, 2], strides=[2, 2], ceil_mode={ceil}){relus}
    """


@pytest.mark.parametrize("again", [False, True])
def test_a_relu_follows_the_maximum_and_is_needed_once(again: bool) -> None:
    relus = "\n        d = relu(c)\n        return d" if again else "\n        return c"
    kinds = [
        line.partition(" = ")[2].partition("(")[0] for line in after(move_relus, _pooled(relus)).splitlines()
    ]
    assert kinds == ["scale", "pool2d", "relu", ""]


@pytest.mark.parametrize(
    ("program"),
    [
        _pooled("\n        return c", "avg"),
        _pooled("\n        return c", "max", True),
        _pooled("\n        return c, b"),
    ],
)
def test_a_relu_is_not_moved_if_the_order_matters(program: str) -> None:
    kinds = [line.partition(" = ")[2].partition("(")[0] for line in after(move_relus, program).splitlines()]
    assert kinds == ["scale", "relu", "pool2d", ""]
