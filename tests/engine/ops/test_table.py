"""Every operator: values against NumPy, inference, gradients to second order, dtypes, static and eager."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import engine.ops
from engine.core.operators import traits
from engine.core.operators.opdef import OPS
from engine.core.random.generator import default_generator
from engine.core.values.dtype import from_numpy
from engine.core.values.spec import Spec
from engine.eager.backward import grad
from engine.eager.tensor import Tensor
from engine.program.backward.inline_gradients import inline_gradients
from engine.program.build.builder import building, variable
from engine.program.graph.check import check
from engine.program.graph.program import Program
from engine.program.run.executor import Executor
from tests.each import each, grouped
from tests.engine.ops.case import Case
from tests.engine.ops.table import CASES, ELSEWHERE, REPO

STEP = 1e-6
MOST = 12  # elements of an input that are moved for the numeric gradient
MOST_TWICE = MOST if os.environ.get("MODEL_STUDIO_LONG") else 4  # and for that of a gradient

Arrays = list[Any]


def _copies(inputs: Sequence[Any]) -> Arrays:
    return [_copies(i) if isinstance(i, list) else None if i is None else np.array(i) for i in inputs]


def _leaves(case: Case, inputs: Sequence[Any]) -> Arrays:
    """The differentiable arrays, lists written out."""
    found: Arrays = []
    for name, value in zip(OPS[case.op].input_names, inputs, strict=True):
        if name in case.grads:
            found += value if isinstance(value, list) else [value]
    return found


def _tensors(case: Case, inputs: Sequence[Any]) -> Arrays:
    names = OPS[case.op].input_names

    def tensor(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [tensor(name, v) for v in value]
        return None if value is None else Tensor(value, stop_gradient=name not in case.grads)

    return [tensor(n, v) for n, v in zip(names, inputs, strict=True)]


def _call(case: Case, tensors: Sequence[Any]) -> list[Any]:
    result = OPS[case.op].namespace["__apply__"](*tensors, **case.sample.attrs)
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _run(case: Case, inputs: Sequence[Any]) -> Arrays:
    """Results as arrays; the inputs are changed where the operator writes."""
    default_generator().manual_seed(5)
    return [None if t is None else t._array for t in _call(case, _tensors(case, inputs))]


def _differentiable(case: Case, results: Arrays) -> list[int]:
    if case.through is not None:
        return list(case.through)
    return [n for n, r in enumerate(results) if r is not None and r.dtype.kind == "f"]


def _weights(results: Arrays, through: list[int], seed: int = 0) -> Arrays:
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.standard_normal(results[n].shape)).astype(results[n].dtype) for n in through]


def _specs(inputs: Sequence[Any], unknown: str = "") -> list[Any]:
    def spec(value: Any) -> Any:
        if isinstance(value, list):
            return [spec(v) for v in value]
        if value is None:
            return None
        shape = list(value.shape)
        # Two unknown dimensions are taken to be equal, so one that is broadcast has to be known.
        if unknown == "first" and shape and shape[0] != 1:
            shape[0] = -1
        return Spec([-1] * len(shape) if unknown == "all" else shape, from_numpy(value.dtype))

    return [spec(v) for v in inputs]


def _assert_equal(got: Any, want: Any, tolerance: float = 1e-9) -> None:
    want = np.asarray(want)
    assert got.shape == want.shape
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(got, want)


# A test takes all rows of an operator; one that fails names the row.
BY_OP = grouped(CASES, lambda case: case.op)
SMOOTH = grouped([case for case in CASES if case.grads], lambda case: case.op)
every = pytest.mark.parametrize("op", BY_OP)
smooth = pytest.mark.parametrize("op", SMOOTH)


def _each(cases: Sequence[Case], check: Callable[[Case], None]) -> None:
    each(cases, lambda case: case.id, check)


def test_every_operator_has_a_row() -> None:
    rows = {c.op for c in CASES}
    defined = {n for n, o in OPS.items() if o.kernel.__module__.startswith("engine.ops.")}
    assert engine.ops.OPS is OPS
    assert defined - rows - ELSEWHERE.keys() == set()
    assert rows <= defined


def test_rows_listed_as_elsewhere_exist() -> None:
    for op, path in ELSEWHERE.items():
        assert op in (REPO / path).read_text(encoding="utf-8"), f"{op} is not in {path}"


def test_every_rule_is_checked() -> None:
    """Each input that has a gradient rule is differentiated in at least one row."""
    checked: dict[str, set[str]] = {}
    for case in CASES:
        checked.setdefault(case.op, set()).update(case.grads)
    # Their rules know that mean and variance are functions of x: checked as second order of the norms.
    for norm in ("layer_norm", "group_norm", "instance_norm"):
        checked[f"{norm}_grad"] = {"x", "scale", "g_in"}
    checked["poisson"] = {"x"}  # drawn numbers: the gradient is 0 (recorded with Paddle 2.6.2)
    missing = {
        n: set(o.rule_of) - checked[n] for n, o in OPS.items() if n in checked and set(o.rule_of) - checked[n]
    }
    assert missing == {}


def check_forward(case: Case) -> None:
    inputs = _copies(case.sample.inputs)
    results = _run(case, inputs)
    before = _copies(case.sample.inputs)
    if case.check is not None:
        case.check(results, *before, **case.sample.attrs)
        return
    assert case.want is not None
    want = case.want(*before, **case.sample.attrs)
    want = list(want) if isinstance(want, (tuple, list)) else [want]
    assert len(results) == len(want)
    for got, expected in zip(results, want, strict=True):
        if expected is None:
            assert got is None
        else:
            _assert_equal(got, expected)
    for output, got in zip(OPS[case.op].outputs, results, strict=False):
        replaced = inputs[OPS[case.op].index_of[output.writes]] if output.writes else None
        if replaced is not None and got is not None:
            np.testing.assert_array_equal(replaced, got)


def check_inference(case: Case) -> None:
    results = _run(case, _copies(case.sample.inputs))
    opdef = OPS[case.op]
    attrs = opdef.with_defaults(case.sample.attrs)
    exact = opdef.infer_specs(_specs(case.sample.inputs), attrs)
    made = [None if r is None else Spec(r.shape, from_numpy(r.dtype)) for r in results]
    if case.data:
        assert any(not e.known for e in exact)
        exact = tuple(made)
    assert made == list(exact)
    for unknown in ("first", "all") if case.unknown else ():
        guessed = opdef.infer_specs(_specs(case.sample.inputs, unknown), attrs)
        assert len(guessed) == len(exact)
        for guess, spec in zip(guessed, exact, strict=True):
            if spec is not None:
                assert guess.dtype is spec.dtype
                fits = [g in (-1, d) for g, d in zip(guess.shape, spec.shape, strict=True)]
                assert all(fits), f"{unknown} dimensions unknown: {guess} for {spec}"


def _value(case: Case, inputs: Sequence[Any], through: list[int], weights: Arrays) -> float:
    results = _run(case, _copies(inputs))
    return float(sum((results[n] * w).sum() for n, w in zip(through, weights, strict=True)))


def _gradients(case: Case, inputs: Sequence[Any], through: list[int], weights: Arrays) -> Arrays:
    tensors = _tensors(case, _copies(inputs))
    default_generator().manual_seed(5)
    results = _call(case, tensors)
    found = grad(
        [results[n] for n in through], _leaves(case, tensors), [Tensor(w) for w in weights], allow_unused=True
    )
    return [
        np.zeros(x.shape) if g is None else g._array
        for g, x in zip(found, _leaves(case, inputs), strict=True)
    ]


def _numeric(function: Any, arrays: Arrays, most: int = MOST) -> list[list[tuple[tuple[int, ...], float]]]:
    """Central differences of ``function()`` for some elements of each of ``arrays``, which it reads."""
    found = []
    for array in arrays:
        places = list(np.ndindex(array.shape))
        if len(places) > most:
            picked = np.random.default_rng(len(places)).choice(len(places), most, replace=False)
            places = [places[p] for p in picked]
        slopes = []
        for place in places:
            middle = float(array[place])
            array[place] = middle + STEP
            above = function()
            array[place] = middle - STEP
            below = function()
            array[place] = middle
            slopes.append((place, (above - below) / (2 * STEP)))
        found.append(slopes)
    return found


def _assert_slopes(analytic: Arrays, numeric: Any, name: str) -> None:
    for n, (array, slopes) in enumerate(zip(analytic, numeric, strict=True)):
        for place, slope in slopes:
            assert array[place] == pytest.approx(slope, rel=2e-5, abs=2e-6), f"{name} {n} at {place}"


def check_gradient(case: Case) -> None:
    inputs = _copies(case.sample.inputs)
    results = _run(case, _copies(inputs))
    through = _differentiable(case, results)
    weights = _weights(results, through)
    analytic = _gradients(case, inputs, through, weights)
    assert [a.shape for a in analytic] == [x.shape for x in _leaves(case, inputs)]
    if case.straight:
        np.testing.assert_array_equal(analytic, weights)
        return
    numeric = _numeric(lambda: _value(case, inputs, through, weights), _leaves(case, inputs))
    _assert_slopes(analytic, numeric, "gradient of input")


def check_second_order(case: Case) -> None:
    inputs = _copies(case.sample.inputs)
    results = _run(case, _copies(inputs))
    through = _differentiable(case, results)
    weights = _weights(results, through)
    rng = np.random.default_rng(1)
    directions = [np.asarray(rng.standard_normal(x.shape)) for x in _leaves(case, inputs)]

    def along() -> float:
        found = _gradients(case, inputs, through, weights)
        return float(sum((g * d).sum() for g, d in zip(found, directions, strict=True)))

    tensors = _tensors(case, _copies(inputs))
    starts = [Tensor(w.copy(), stop_gradient=False) for w in weights]
    default_generator().manual_seed(5)
    outputs = _call(case, tensors)
    leaves = _leaves(case, tensors)
    first = grad([outputs[n] for n in through], leaves, starts, create_graph=True, allow_unused=True)
    pairs = [
        (g, Tensor(d))
        for g, d in zip(first, directions, strict=True)
        if g is not None and not g.stop_gradient
    ]
    targets = [*leaves, *starts]
    if pairs:
        second = grad([g for g, _ in pairs], targets, [d for _, d in pairs], allow_unused=True)
    else:  # without elements a gradient may be a constant
        second = [None] * len(targets)
    analytic = [np.zeros(x.shape) if g is None else g._array for g, x in zip(second, targets, strict=True)]
    numeric = _numeric(along, [*_leaves(case, inputs), *weights], MOST_TWICE)
    _assert_slopes(analytic, numeric, "second order of input or incoming gradient")


def _single(value: Any) -> Any:
    if isinstance(value, list):
        return [_single(v) for v in value]
    return value.astype(np.float32) if value is not None and value.dtype == np.float64 else value


def check_dtype(case: Case) -> None:
    """float32 in gives float32 out, in results and gradients, and the values of float64."""
    inputs = _copies(case.sample.inputs)
    double = _run(case, _copies(inputs))
    single = _run(case, [_single(i) for i in _copies(inputs)])
    specs = OPS[case.op].infer_specs(
        _specs([_single(i) for i in inputs]), OPS[case.op].with_defaults(case.sample.attrs)
    )
    for a, b, spec in zip(double, single, specs, strict=True):
        if a is not None:
            assert b.dtype == spec.dtype.np
            dtype_given = case.sample.attrs.get("dtype") or case.sample.attrs.get("out_dtype")
            if a.dtype == np.float64 and dtype_given is None:
                assert b.dtype == np.float32
            np.testing.assert_allclose(b, a, rtol=3e-4, atol=3e-4)
    if case.grads:
        through = _differentiable(case, single)
        found = _gradients(case, [_single(i) for i in _copies(inputs)], through, _weights(single, through))
        for gradient, leaf in zip(found, _leaves(case, [_single(i) for i in inputs]), strict=True):
            assert gradient.dtype == leaf.dtype or not gradient.any()


def _in_program(
    case: Case, inputs: Sequence[Any], through: Sequence[int], weights: Sequence[Any], dims: str
) -> tuple[Arrays, Arrays]:
    """Results and gradients (None where there is none) of the same application in a Program."""
    opdef = OPS[case.op]
    program = Program()
    feed: dict[str, Any] = {}
    written = {o.writes for o in opdef.outputs if o.writes}

    def place(name: str, value: Any, key: str) -> Any:
        if isinstance(value, list):
            return [place(name, v, f"{key}_{n}") for n, v in enumerate(value)]
        if value is None:
            return None
        if name in written:
            return Tensor(value)
        feed[key] = value
        spec = _specs([value], dims)[0]
        return variable(program, key, spec, stop_gradient=name not in case.grads)

    made: list[Any] = []
    with building(program):
        values = [place(n, v, n) for n, v in zip(opdef.input_names, inputs, strict=True)]
        outputs = _call(case, values)
        if case.grads:
            starts: list[tuple[Any, Any]] = []
            for n, weight in zip(through, weights, strict=True):
                feed[f"weight_{n}"] = weight
                spec = Spec(outputs[n].shape, from_numpy(weight.dtype))
                starts.append((outputs[n], variable(program, f"weight_{n}", spec)))
            made = inline_gradients(list(program.global_block().ops), starts, _leaves(case, values))
    check(program)
    default_generator().manual_seed(5)
    everything = [*outputs, *made]
    fetched = iter(Executor().run(program, feed, [f for f in everything if f is not None]))
    found = [None if f is None else next(fetched) for f in everything]
    return found[: len(outputs)], found[len(outputs) :]


def check_static(case: Case) -> None:
    """Compare a Program of known sizes, and one whose first sizes are unknown, with the eager results."""
    inputs = _copies(case.sample.inputs)
    results = _run(case, _copies(inputs))
    through = _differentiable(case, results)
    weights = _weights(results, through)
    eager = _gradients(case, inputs, through, weights) if case.grads else []
    for dims in ("known", "first") if case.unknown else ("known",):
        got, gradients = _in_program(case, _copies(inputs), through, weights, dims)
        for a, b in zip(got, results, strict=True):
            if b is None:
                assert a is None
            else:
                _assert_equal(a, b, 1e-12)
        if case.grads:
            for a, b in zip(gradients, eager, strict=True):
                _assert_equal(np.zeros(b.shape) if a is None else a, b, 1e-12)


@every
def test_forward(op: str) -> None:
    _each(BY_OP[op], check_forward)


@every
def test_infer_agrees_with_the_kernel(op: str) -> None:
    _each(BY_OP[op], check_inference)


@smooth
def test_gradient(op: str) -> None:
    _each(SMOOTH[op], check_gradient)


@pytest.mark.no_cover
@pytest.mark.parametrize("op", [op for op in SMOOTH if OPS[op] not in traits.order])
def test_second_order(op: str) -> None:
    _each(SMOOTH[op], check_second_order)


@pytest.mark.no_cover
@every
def test_dtype_is_preserved(op: str) -> None:
    _each(BY_OP[op], check_dtype)


@pytest.mark.no_cover
@every
def test_static_equals_eager(op: str) -> None:
    _each(BY_OP[op], check_static)
