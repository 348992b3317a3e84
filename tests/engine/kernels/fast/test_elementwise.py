"""Compiled loops of elementwise operators against the same operators in NumPy, one by one."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import engine  # noqa: F401
from engine.core.operators.opdef import OPS
from engine.core.values.dtype import as_dtype
from engine.core.values.spec import Spec
from engine.kernels.fast import elementwise

EXAMPLES = 400 if os.environ.get("MODEL_STUDIO_LONG") else 40
VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.25, 1e-40, 7e5, -88.0, np.inf, -np.inf, np.nan]
ONE = (
    "relu",
    "scale",
    "square",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "abs",
    "sign",
    "floor",
    "ceil",
    "trunc",
    "clip",
    "clip_mask",
    "relu6",
    "isnan_v2",
    "isinf_v2",
    "isfinite_v2",
    "hard_sigmoid",
    "hard_swish",
    "softsign",
    "leaky_relu",
    "pow",
    "assign",
    "cast_bool",
    "cast_other",
)
TWO = (
    "elementwise_add",
    "elementwise_sub",
    "elementwise_mul",
    "elementwise_div",
    "elementwise_max",
    "elementwise_min",
    "less_than",
    "greater_equal",
    "equal",
    "not_equal",
    "relu_grad",
    "linear_piece_grad",
    "leaky_relu_grad",
    "hard_swish_grad",
)
LOGIC = ("logical_and", "logical_or", "logical_xor", "logical_not", "cast_float", "where", "gradient_where")
ATTRS = {
    "scale": [
        {"scale": 0.5, "bias": 1.0},
        {"scale": -1.0, "bias": 0.0},
        {"scale": 3.0},
        {"scale": 2.0, "bias": 1.5, "bias_after_scale": False},
        {"scale": 1.0, "bias": 0.25},
    ],
    "clip": [{"min": -1.0, "max": 2.0}, {"min": None, "max": 0.5}, {"min": 0.0, "max": None}],
    "clip_mask": [{"min": -1.0, "max": 2.0}],
    "pow": [{"factor": 2.0}, {"factor": 0.5}],
    "leaky_relu": [{"alpha": 0.1}],
    "leaky_relu_grad": [{"alpha": 0.1}],
    "linear_piece_grad": [
        {"low": 0.0, "high": 3.0},
        {"low": -1.0},
        {"low": -1.0, "high": 1.0, "slope": 0.5, "beyond": True},
    ],
}


@pytest.fixture(autouse=True)
def _any_size(monkeypatch):
    monkeypatch.setattr(elementwise, "_LEAST", 0)


def by_numpy(xs, wanted, outputs):
    values = list(xs)
    for name, read, attrs in wanted:
        kernel, direct = OPS[name].kernel_for("cpu")
        arguments = [values[n] for n in read]
        values.append(kernel(*arguments) if direct else kernel(np, *arguments, **dict(attrs)))
    return [values[n] for n in outputs]


@st.composite
def arrays(draw, shape, dtype):
    """An array that broadcasts to the shape, of some layout."""
    own = tuple(1 if draw(st.integers(0, 5)) == 0 else n for n in shape)
    own = own[draw(st.integers(0, len(own))) if draw(st.booleans()) else 0 :]
    order = draw(st.permutations(range(len(own))))
    steps_ = [draw(st.sampled_from([1, 1, 1, -1, 2])) for _ in own]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    whole = rng.choice([*VALUES, *rng.standard_normal(20)], [own[n] * abs(steps_[n]) for n in order])
    inverse = [order.index(n) for n in range(len(own))]
    with np.errstate(all="ignore"):
        laid = whole.astype(dtype).transpose(inverse)
    return laid[tuple([slice(None, None, step) for step in steps_])]


@st.composite
def groups(draw):
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    shape = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 5, 17, 33]), min_size=1, max_size=5)))
    xs = [draw(arrays(shape, dtype)) for _ in range(draw(st.integers(1, 3)))]
    xs.append(np.random.default_rng(0).choice(VALUES, shape).astype(dtype))
    specs, made = [Spec.of(x) for x in xs], []
    for _ in range(draw(st.integers(1, 6))):
        name = draw(st.sampled_from([*ONE, *TWO, *LOGIC]))
        floats = [n for n, s in enumerate(specs) if s.dtype.name == np.dtype(dtype).name]
        bools = [n for n, s in enumerate(specs) if s.dtype.name == "bool"]
        attrs = draw(st.sampled_from(ATTRS[name])) if name in ATTRS else {}
        pick = {n: st.sampled_from(kind) for n, kind in (("f", floats), ("b", bools)) if kind}
        if name.startswith("cast"):
            kind = {"cast_bool": "bool", "cast_float": np.dtype(dtype).name}.get(name)
            attrs = {"out_dtype": as_dtype(kind or ("float64" if dtype is np.float32 else "float32"))}
            form, name = "b" if name == "cast_float" else "f", "cast"
        elif name == "logical_not":
            form = "b"
        elif name in ("where", "gradient_where"):
            form = "bff" if name == "where" else "fb"
        else:
            form = "bb" if name.startswith("logical") else "ff" if name in TWO else "f"
        if "b" in form and "b" not in pick:
            continue
        read = tuple(draw(pick[each]) for each in form)
        if name in ("gradient_where", "relu_grad", "linear_piece_grad", "leaky_relu_grad", "hard_swish_grad"):
            largest = np.broadcast_shapes(*(specs[n].shape for n in read))
            if any(specs[n].shape != largest for n in read):
                continue
        (result,) = OPS[name].infer_specs([specs[n] for n in read], attrs)
        specs.append(result)
        made.append((name, read, tuple(attrs.items())))
    full = np.broadcast_shapes(*(s.shape for s in specs))
    outputs = tuple(n for n, s in enumerate(specs) if n >= len(xs) and s.shape == full)
    return xs, made, outputs


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(groups())
def test_groups_give_the_bits_of_numpy(group):
    xs, made, outputs = group
    if not outputs:
        return
    loop = elementwise._loop([Spec.of(x) for x in xs], made, outputs)
    assert loop is not None
    assert loop.handle.wait(120)
    with np.errstate(all="ignore"):
        wanted = by_numpy(xs, made, outputs)
    for got, want in zip(loop(xs, None), wanted, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name",
    [
        "exp",
        "expm1",
        "log",
        "log1p",
        "tanh",
        "sigmoid",
        "gelu",
        "gelu_tanh",
        "gelu_grad",
        "gelu_grad_tanh",
        "silu",
        "swish",
        "swish_grad",
        "softplus",
        "softplus_grad",
        "elu",
        "exponential_piece_grad",
        "logsigmoid",
        "tanh_shrink",
        "erf",
    ],
)
def test_functions_agree_with_numpy_to_rounding(name, dtype):
    attrs = {"approximate": True} if name.endswith("_tanh") else {"beta": 1.5} if name == "swish" else {}
    name = name.removesuffix("_tanh")
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.standard_normal(300) * s for s in (1e-4, 0.1, 1, 5, 50)] + [VALUES]).astype(dtype)
    xs = [x, x] if name.endswith("_grad") else [x]
    if name.endswith("_grad"):
        xs[0] = np.ones_like(x)
    made = [(name, tuple(range(len(xs))), tuple(attrs.items()))]
    loop = elementwise._loop([Spec.of(x) for x in xs], made, (len(xs),))
    if name in ("erf", "gelu", "gelu_grad") and not attrs and dtype is np.float64:
        assert loop is None  # the error function has float code only
        return
    assert loop is not None
    assert loop.handle.wait(120)
    with np.errstate(all="ignore"):
        (want,) = by_numpy(xs, made, (len(xs),))
    (got,) = loop(xs, None)
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    # Differences such as 1 + tanh(x) lose digits below zero, in NumPy as here; then x multiplies them.
    allowed = 8 * np.finfo(dtype).eps * np.maximum(np.abs(want), np.maximum(1, np.abs(x)))[finite]
    assert (np.abs(got[finite] - want[finite]) <= allowed).all()


def test_results_are_written_into_the_arrays_of_the_plan():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 40, 70)).astype(np.float32)
    made = [("elementwise_add", (0, 1), ()), ("relu", (2,), ())]
    loop = elementwise._loop([Spec.of(x), Spec.of(y)], made, (2, 3))
    assert loop.handle.wait(120)
    total = x + y
    elsewhere = np.empty_like(x)
    other_way = np.empty((70, 40), np.float32).T
    got = loop([x, y], [elsewhere, other_way])
    assert got[0] is elsewhere
    np.testing.assert_array_equal(elsewhere, total)
    np.testing.assert_array_equal(got[1], np.maximum(total, 0))
    got = loop([x, y], [x, None])  # the array of an input
    assert got[0] is x
    np.testing.assert_array_equal(x, total)


def test_layouts_are_those_of_numpy():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 4, 5, 16)).astype(np.float32)
    last = x.transpose(3, 0, 1, 2)
    made = [("elementwise_add", (0, 1), ())]
    for xs in (
        [last, last],
        [last, np.ones((3, 1, 1), np.float32)],
        [last, np.ascontiguousarray(last)],
        [np.ones((16, 1, 1, 5), np.float32), np.ones((3, 4, 1), np.float32)],
    ):
        loop = elementwise._loop([Spec.of(each) for each in xs], made, (2,))
        assert loop.handle.wait(120)
        (got,), want = loop(xs, None), xs[0] + xs[1]
        np.testing.assert_array_equal(got, want)
        assert got.strides == want.strides


@pytest.mark.parametrize(
    ("kinds", "made"),
    [
        (["float16", "float16"], [("elementwise_add", (0, 1), ())]),
        (["complex64", "complex64"], [("elementwise_mul", (0, 1), ())]),
        (["float32", "float32"], [("elementwise_pow", (0, 1), ())]),
        (["float32"], [("cast", (0,), (("out_dtype", as_dtype("int32")),))]),
        (["bool", "bool"], [("elementwise_add", (0, 1), ())]),
    ],
)
def test_operators_without_code_stay_with_numpy(kinds, made):
    specs = [Spec((64, 64), kind) for kind in kinds]
    assert elementwise._loop(specs, made, (len(specs) + len(made) - 1,)) is None
