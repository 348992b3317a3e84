"""Every plan of a random network against the plain executor, which runs operator after operator in NumPy.

Networks of convolutions, poolings, norms, recurrent layers, products, reductions and elementwise operators
train for some steps under a random rule; the last batches are smaller, and have other layouts. Plans
on NumPy are bitwise identical. Compiled kernels agree call by call to rounding, do not depend on the number
of threads, and the whole agrees as far as the network lets rounding through. ``--long`` tries 25 times as
many.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.engine.program.run.random_networks import steps
from tests.engine.program.run.watch_kernels import Watch, distance, near
from tests.engine.program.run.ways import PLAIN, Case, Way, converted, everything_pays, same, trained

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))
pytestmark = pytest.mark.timeout(0 if LONG else 240)
SHAPES = [(3, 4), (2, 3, 5, 7), (3, 4, 5), (1, 1, 1, 1), (7, 33), (4, 2, 9, 8), (5, 16, 3)]


@st.composite
def cases(draw: Any, dtypes: tuple[str, ...] = ("float32", "float32", "float64"), **kinds: Any) -> Case:
    """Steps, the number of a rule, and batches: the same size twice, a smaller one twice, other strides."""
    plan = draw(steps(**kinds))
    shape, dtype = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(dtypes))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    special = draw(st.sampled_from([(), (), (), (np.nan,), (np.inf, -np.inf), (0.0, -0.0)]))
    strided = draw(st.integers(0, 3))

    def batch(count: int, way: int = 0) -> tuple[Any, Any]:
        made = random.standard_normal((count, *shape[1:])).astype(dtype)
        for value in special:
            made.reshape(-1)[random.integers(0, made.size)] = value
        if way == 1:
            made = np.asfortranarray(made)
        if way == 2:
            made = np.repeat(made, 2, axis=0)[::2]
        if way == 3:
            made = made[..., ::-1]
        return made, random.integers(0, 2, (count, 1))

    count = shape[0]
    less = max(1, count // 2)
    batches = [batch(count), batch(count), batch(less), batch(less), batch(count, strided)]
    return plan, draw(st.integers(0, 17)), batches


def examples(count: int) -> Callable[[Any], Any]:
    return settings(
        max_examples=count * (25 if LONG else 1),
        deadline=None,
        derandomize=True,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def rounded(x: Any, random: Any) -> Any:
    """The array with other last bits."""
    return (x * (1 + 8 * np.finfo(x.dtype).eps * random.choice([-1, 1], x.shape))).astype(x.dtype)


def agrees_call_by_call(run: Callable[[Case, Way], list[Any]], case: Case) -> None:
    """Each compiled kernel agrees with NumPy's; with NumPy's results the rest is bitwise identical to a
    run without a plan."""
    pytest.importorskip("llvmlite")
    watch = Watch()
    with everything_pays(), watch.watching():
        found = run(case, Way(1, "fast"))
    assert not watch.problems, "\n".join(watch.problems)
    plain = run(case, PLAIN)
    if watch.other_layout:
        assert not [
            problem for pair in zip(found, plain, strict=True) if (problem := near(*pair, spread=1e-4))
        ]
    else:
        same(found, plain)


@examples(8)
@given(cases())
def test_plans_on_numpy_give_the_bits_of_the_plain_executor(case: Case) -> None:
    plain = trained(case, PLAIN)
    with everything_pays():
        same(trained(case, Way(1)), plain)
        same(trained(case, Way(1, threads=2)), plain)


@examples(2)
@given(cases())
def test_each_compiled_kernel_agrees_with_numpys(case: Case) -> None:
    agrees_call_by_call(trained, case)


@examples(2)
@given(cases())
def test_threads_do_not_change_compiled_results(case: Case) -> None:
    pytest.importorskip("llvmlite")
    with everything_pays():
        same(trained(case, Way(1, "fast", threads=2)), trained(case, Way(1, "fast")))


@examples(2)
@given(cases(jumps=False))
def test_compiled_plans_agree_with_the_plain_executor(case: Case) -> None:
    pytest.importorskip("llvmlite")
    plan, rule, batches = case
    plain = trained(case, PLAIN)
    spread = [0.0] * len(plain)
    random = np.random.default_rng(0)
    for _ in range(3):  # how far results are apart for inputs that differ by rounding
        other = trained((plan, rule, [(rounded(x, random), label) for x, label in batches]), PLAIN)
        spread = [max(s, 4 * distance(a, b)) for s, a, b in zip(spread, other, plain, strict=True)]
    with everything_pays():
        found = trained(case, Way(1, "fast"))
    for got, want, allowed in zip(found, plain, spread, strict=True):
        assert not near(got, want, allowed)


@examples(8)
@given(cases())
def test_converted_functions_train_to_the_same_bits(case: Case) -> None:
    plain = converted(case, PLAIN)
    with everything_pays():
        same(converted(case, Way(1, threads=2)), plain)


@examples(2)
@given(cases())
def test_compiled_kernels_of_converted_functions_agree_with_numpys(case: Case) -> None:
    agrees_call_by_call(converted, case)
