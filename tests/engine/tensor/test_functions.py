"""Public functions of several operators: einsum, statistics, differences, integrals, choosing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, DTypeError, EngineError, OutOfRangeError, ShapeError
from engine.core.values.dtype import from_numpy
from engine.core.values.spec import Spec
from engine.program.build.builder import building, variable
from engine.program.graph.program import Program
from engine.program.run.executor import Executor
from tests.engine.tensor.function_checks import check, check_gradients, check_static, check_values


def _values(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


EQUATIONS: list[tuple[str, list[tuple[int, ...]], tuple[int, ...]]] = [
    ("ij,jk->ik", [(3, 4), (4, 2)], (0,)),
    ("ij,jk", [(3, 4), (4, 2)], (0,)),
    ("i j , j k -> i k", [(3, 4), (4, 2)], (0,)),
    ("ii->i", [(3, 3)], ()),
    ("ii", [(3, 3)], ()),
    ("iij->ji", [(3, 3, 2)], ()),
    ("iiij->j", [(2, 2, 2, 3)], ()),
    ("ij->ji", [(2, 3)], (0,)),
    ("ba", [(2, 3)], (0,)),
    ("ij->ij", [(2, 3)], (0,)),
    ("ij->", [(2, 3)], (0,)),
    ("ij->j", [(2, 3)], (0,)),
    ("i,i->", [(4,), (4,)], ()),
    ("i,j->ij", [(4,), (3,)], (0,)),
    ("ij,ij->ij", [(2, 3), (2, 3)], (0, 1)),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)], (0, 1)),
    ("bij,bkj->bki", [(2, 3, 4), (2, 5, 4)], (0, 1)),
    ("bhid,bhjd->bhij", [(2, 2, 3, 4), (2, 2, 5, 4)], (0, 1)),
    ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)], (0,)),
    ("...ij,...jk->...ik", [(5, 1, 3, 4), (2, 4, 5)], ()),
    ("...ij->...ji", [(2, 3, 4)], (0,)),
    ("...i->i...", [(2, 3, 4)], (0,)),
    ("...,...->...", [(2, 3), (3,)], (0,)),
    ("...i,...i->...", [(2, 1, 3), (4, 3)], ()),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)], (0,)),
    ("ij,jk,kl,lm->im", [(5, 2), (2, 6), (6, 2), (2, 3)], ()),
    ("ijk,il,jm,kn->lmn", [(2, 3, 4), (2, 2), (3, 2), (4, 2)], ()),
    ("ij,j,i->", [(2, 3), (3,), (2,)], (0, 2)),
    ("ab,cd->acbd", [(2, 3), (4, 5)], (0,)),
    ("abc,abd->dc", [(2, 3, 4), (2, 3, 5)], (0, 1)),
    ("abcd,cdef->abef", [(2, 2, 3, 2), (3, 2, 2, 2)], ()),
    ("ij,k->j", [(2, 3), (4,)], ()),
    ("ij,jk->ik", [(0, 4), (4, 2)], ()),
    ("ij,jk->ik", [(3, 0), (0, 2)], ()),
    ("Ab,bA->A", [(2, 3), (3, 2)], ()),
    (",i->i", [(), (3,)], ()),
    ("->", [()], ()),
]


@pytest.mark.parametrize(
    ("equation", "shapes", "unknown"), EQUATIONS, ids=[f"{e} {s}" for e, s, _ in EQUATIONS]
)
def test_einsum(equation: str, shapes: list[tuple[int, ...]], unknown: tuple[int, ...]) -> None:
    arrays = [_values(*shape, seed=n) for n, shape in enumerate(shapes)]
    want = np.einsum(equation.replace(" ", ""), *arrays)
    check(lambda *x: paddle.einsum(equation, *x), want, *arrays)
    if unknown:
        check_static(lambda *x: paddle.einsum(equation, *x), *arrays, unknown=unknown)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("tnc,tmc->nm", [(5, 3, 4), (5, 2, 4)]),
        ("btd,dh->bth", [(2, 3, 4), (4, 6)]),
        ("bhid,bhjd->bhij", [(3, 2, 5, 4), (3, 2, 6, 4)]),
        ("...ij,...jk->...ik", [(2, 3, 4, 5), (2, 3, 5, 6)]),
        ("abc,acd,de->abe", [(2, 3, 4), (2, 4, 5), (5, 6)]),
    ],
)
def test_einsum_of_sizes_that_only_the_run_knows(equation: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [_values(*shape, seed=n) for n, shape in enumerate(shapes)]
    program = Program()
    with building(program):
        made = [
            variable(program, f"x{n}", Spec([-1] * array.ndim, from_numpy(array.dtype)))
            for n, array in enumerate(arrays)
        ]
        result = paddle.einsum(equation, *made)
    (found,) = Executor().run(program, {f"x{n}": a for n, a in enumerate(arrays)}, [result])
    np.testing.assert_allclose(found, np.einsum(equation, *arrays), rtol=1e-9, atol=1e-9)


def test_einsum_makes_a_new_tensor() -> None:
    x = paddle.ones([2, 2])
    y = paddle.einsum("ij->ij", x)
    y.add_(paddle.ones([2, 2]))
    assert x.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_einsum_takes_a_list_and_brings_dtypes_together() -> None:
    x, y = paddle.ones([2, 3]), paddle.ones([3, 2], "float64")
    found = paddle.einsum("ij,jk->ik", [x, y])
    assert found.dtype == paddle.float64
    assert found.tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_einsum_of_complex_tensors() -> None:
    x = _values(2, 3) + 1j * _values(2, 3, seed=1)
    got = paddle.einsum("ij,kj->ik", paddle.to_tensor(x), paddle.to_tensor(x))
    np.testing.assert_allclose(got.numpy(), x @ x.T, rtol=1e-12)


def test_einsum_multiplies_small_products_first() -> None:
    """A vector through a chain of matrices: never a product of two matrices."""
    x = [paddle.ones([1, 300]), *[paddle.ones([300, 300]) / 300.0] * 8]
    letters = "abcdefghij"
    equation = ",".join(letters[n : n + 2] for n in range(9)) + "->aj"
    found = paddle.einsum(equation, *x)
    np.testing.assert_allclose(found.numpy(), np.ones((1, 300)), rtol=1e-4)


TENSORDOT: list[tuple[Any, tuple[int, ...], tuple[int, ...]]] = [
    (1, (2, 3), (3, 4)),
    (2, (2, 3, 4), (3, 4, 5)),
    (0, (2, 3), (4,)),
    ([[1], [0]], (2, 3), (3, 4)),
    ([[0, 2], [1, 0]], (2, 3, 4), (4, 2, 5)),
    ([[-1], [-1]], (2, 3), (4, 3)),
]


@pytest.mark.parametrize(("axes", "x", "y"), TENSORDOT)
def test_tensordot(axes: Any, x: tuple[int, ...], y: tuple[int, ...]) -> None:
    a, b = _values(*x), _values(*y, seed=1)
    numpy_axes = axes if isinstance(axes, int) else tuple(axes)
    check(lambda x, y: paddle.tensordot(x, y, axes), np.tensordot(a, b, numpy_axes), a, b)


A = _values(3, 4)
NAN = np.array([[1.0, np.nan, 3.0, 2.0], [4.0, 5.0, np.nan, np.nan]])
TIMES = np.cumsum(np.abs(_values(4, seed=5)))

Row = tuple[Callable[..., Any], Any, tuple[Any, ...], tuple[int, ...]]
ROWS: dict[str, Row] = {
    "median": (paddle.median, np.median(A), (A,), ()),
    "median axis": (lambda x: paddle.median(x, axis=1), np.median(A, 1), (A,), (0,)),
    "median keepdim": (lambda x: paddle.median(x, 0, True), np.median(A, 0, keepdims=True), (A,), ()),
    "median nan": (lambda x: paddle.median(x, axis=1), np.array([np.nan, np.nan]), (NAN,), ()),
    "median inf": (paddle.median, np.array(np.inf), (np.array([np.inf, 1.0]),), ()),
    "nanmedian": (lambda x: paddle.nanmedian(x, axis=1), np.nanmedian(NAN, 1), (NAN,), (0,)),
    "nanmedian axes": (lambda x: paddle.nanmedian(x, axis=[0, 1]), np.nanmedian(NAN), (NAN,), ()),
    "quantile": (lambda x: paddle.quantile(x, [0.1, 0.6], axis=0), np.quantile(A, [0.1, 0.6], 0), (A,), ()),
    "quantile axes": (
        lambda x: paddle.quantile(x, 0.3, axis=[0, -1], keepdim=True),
        np.quantile(_values(2, 3, 4), 0.3, (0, 2), keepdims=True),
        (_values(2, 3, 4),),
        (),
    ),
    "nanquantile": (
        lambda x: paddle.nanquantile(x, [0.1, 0.6], axis=1),
        np.nanquantile(NAN, [0.1, 0.6], 1),
        (NAN,),
        (0,),
    ),
    "var": (lambda x: paddle.var(x, 1), np.var(A, 1, ddof=1), (A,), (0,)),
    "std": (lambda x: paddle.std(x, 0, unbiased=False), np.std(A, 0), (A,), (0,)),
    "nansum": (lambda x: paddle.nansum(x, 1), np.nansum(NAN, 1), (NAN,), (0,)),
    "nanmean": (lambda x: paddle.nanmean(x, 1), np.nanmean(NAN, 1), (NAN,), (0,)),
    "cumsum": (paddle.cumsum, np.cumsum(A), (A,), (0,)),
    "cumprod": (lambda x: paddle.cumprod(x, 1), np.cumprod(A, 1), (A,), (0,)),
    "logcumsumexp": (paddle.logcumsumexp, np.logaddexp.accumulate(A.ravel()), (A,), (0,)),
    "cummax": (lambda x: paddle.cummax(x)[0], np.maximum.accumulate(A.ravel()), (A,), (0,)),
    "diff": (lambda x: paddle.diff(x, n=2), np.diff(A, 2), (A,), (0,)),
    "diff axis": (lambda x: paddle.diff(x, axis=0), np.diff(A, axis=0), (A,), (0,)),
    "diff ends": (
        lambda x, y: paddle.diff(x, prepend=y, append=y),
        np.diff(A, prepend=A[:, :1], append=A[:, :1]),
        (A, A[:, :1]),
        (0, 1),
    ),
    "trapezoid": (paddle.trapezoid, np.trapezoid(A), (A,), (0,)),
    "trapezoid x": (paddle.trapezoid, np.trapezoid(A, TIMES), (A, TIMES), (0,)),
    "trapezoid dx": (
        lambda y: paddle.trapezoid(y, dx=0.3, axis=0),
        np.trapezoid(A, dx=0.3, axis=0),
        (A,),
        (0,),
    ),
    "trapezoid x, first axis": (
        lambda y, x: paddle.trapezoid(y, x, axis=0),
        np.trapezoid(A, TIMES[:3], axis=0),
        (A, TIMES[:3]),
        (),
    ),
    "cumulative_trapezoid": (
        paddle.cumulative_trapezoid,
        np.cumsum((A[:, 1:] + A[:, :-1]) / 2 * np.diff(TIMES), 1),
        (A, TIMES),
        (0,),
    ),
    "multigammaln": (
        lambda x: paddle.multigammaln(x, 2),
        np.log(np.pi) / 2
        + np.log([np.pi**0.5 * 0.75, 2.0])
        + np.log([1.0, np.pi**0.5 * 0.75])
        + np.array([0.0, 0.0]),
        (np.array([2.5, 3.0]),),
        (),
    ),
    "frexp": (lambda x: paddle.frexp(x)[0], np.frexp(A)[0], (A,), (0,)),
    "ldexp": (
        lambda x: paddle.ldexp(x, paddle.to_tensor([1, 2, -1, 0])),
        A * [2, 4, 0.5, 1],
        (A,),
        (0,),
    ),
    "polar": (
        lambda x: paddle.as_real(paddle.polar(x, x * 2)),
        np.stack([A * np.cos(2 * A), A * np.sin(2 * A)], -1),
        (A,),
        (0,),
    ),
    "lerp": (lambda x: paddle.lerp(x, x * x, 0.3), A * 0.7 + A * A * 0.3, (A,), (0,)),
    "frac": (paddle.frac, A - np.trunc(A), (A,), (0,)),
    "deg2rad": (paddle.deg2rad, np.deg2rad(A), (A,), (0,)),
    "stanh": (paddle.stanh, 1.7159 * np.tanh(0.67 * A), (A,), (0,)),
}
# With missing values the check of derivatives would compare NaN with NaN.
WITHOUT_GRADIENT = (
    "median nan",
    "median inf",
    "nanmedian",
    "nanmedian axes",
    "nanquantile",
    "nansum",
    "nanmean",
)


@pytest.mark.parametrize("name", ROWS)
def test_functions(name: str) -> None:
    function, want, arrays, unknown = ROWS[name]
    single = "quantile" not in name  # always float64
    gradients = name not in WITHOUT_GRADIENT
    check(function, want, *arrays, unknown=unknown, gradients=gradients, single=single)


def test_missing_values_get_no_gradient() -> None:
    for function in (paddle.nansum, paddle.nanmean, lambda x: paddle.nanmedian(x, axis=1)):
        x = paddle.to_tensor(NAN, stop_gradient=False)
        function(x).sum().backward()
        assert not x.grad.numpy()[np.isnan(NAN)].any()
        assert x.grad.numpy().any()


def test_count_nonzero_and_histograms() -> None:
    x = np.array([[0.0, 1.0, np.nan], [2.0, 0.0, 0.0]])
    check_values(paddle.count_nonzero, np.array(3), x)
    check_values(lambda x: paddle.count_nonzero(x, axis=1, keepdim=True), np.array([[2], [1]]), x)
    check_static(lambda x: paddle.count_nonzero(x, axis=1), x, unknown=[0])
    check_static(lambda x: paddle.histogram(x, bins=4, min=-1, max=1), A, unknown=[0])
    check_static(paddle.bincount, np.array([1, 2, 1]), unknown=[0])


def test_prod_and_cumprod_have_gradients_at_zeros() -> None:
    for values in ([2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]):
        check_gradients(paddle.prod, np.array(values), second=False)
        check_gradients(lambda x: paddle.cumprod(x, 0), np.array(values), second=False)


REFUSED: list[tuple[str, Callable[[], Any], type[EngineError], str]] = [
    ("number of operands", lambda: paddle.einsum("ij", A, A), ArgumentError, "has 1 operands: got 2"),
    ("dimensions", lambda: paddle.einsum("ijk->i", paddle.ones([2, 2])), ShapeError, "has 3 indices"),
    (
        "unknown index",
        lambda: paddle.einsum("ij->k", paddle.ones([2, 2])),
        ArgumentError,
        "must name indices",
    ),
    ("index twice", lambda: paddle.einsum("ij->ii", paddle.ones([2, 2])), ArgumentError, "each once"),
    ("sign", lambda: paddle.einsum("i1->i", paddle.ones([2, 2])), ArgumentError, "must hold letters"),
    (
        "sizes",
        lambda: paddle.einsum("ij,jk->ik", paddle.ones([2, 3]), paddle.ones([2, 3])),
        ShapeError,
        "index j is 3 and 2",
    ),
    ("diagonal", lambda: paddle.einsum("ii->i", paddle.ones([2, 3])), ShapeError, "index i is 2 and 3"),
    ("no tensor", lambda: paddle.einsum("i->i", 3.0), ArgumentError, "must be a Tensor"),
    (
        "tensordot sizes",
        lambda: paddle.tensordot(paddle.ones([2, 3]), paddle.ones([2, 3]), 1),
        ShapeError,
        "must be equal",
    ),
    (
        "tensordot axes",
        lambda: paddle.tensordot(paddle.ones([2]), paddle.ones([2]), 2),
        ArgumentError,
        "use at most",
    ),
    ("median empty", lambda: paddle.median(paddle.zeros([0])), ShapeError, "is empty"),
    (
        "median axis",
        lambda: paddle.median(paddle.zeros([2]), axis=1),
        OutOfRangeError,
        "axis 1 is out of range",
    ),
    ("quantile q", lambda: paddle.quantile(paddle.ones([2]), -0.1), ArgumentError, "between 0 and 1"),
    (
        "quantile tensor",
        lambda: paddle.quantile(paddle.ones([2]), paddle.ones([1])),
        DTypeError,
        "must be a number",
    ),
    ("nanmedian axis", lambda: paddle.nanmedian(paddle.ones([2]), axis=[]), ArgumentError, "axis is empty"),
    ("cumprod dim", lambda: paddle.cumprod(paddle.ones([2])), ArgumentError, "dim must be given"),
    (
        "cummax dtype",
        lambda: paddle.cummax(paddle.ones([2]), dtype="float32"),
        ArgumentError,
        "int32 or int64",
    ),
    ("diff n", lambda: paddle.diff(paddle.ones([2]), n=0), ArgumentError, "n must be at least 1"),
    ("diff 0-d", lambda: paddle.diff(paddle.ones([])), ShapeError, "no neighbours"),
    (
        "trapezoid",
        lambda: paddle.trapezoid(paddle.ones([2]), x=paddle.ones([2]), dx=1.0),
        ArgumentError,
        "not both",
    ),
    (
        "trapezoid x",
        lambda: paddle.trapezoid(paddle.ones([2, 2, 2]), x=paddle.ones([2, 2])),
        ShapeError,
        "x needs 1 dimension",
    ),
    (
        "histogram",
        lambda: paddle.histogram(paddle.ones([2]), min=2, max=1),
        ArgumentError,
        "must not be below",
    ),
    ("histogram nan", lambda: paddle.histogram(paddle.to_tensor([np.nan])), ArgumentError, "is not finite"),
    ("bincount", lambda: paddle.bincount(paddle.to_tensor([-1])), OutOfRangeError, "numbers below 0"),
    (
        "bincount 2-d",
        lambda: paddle.bincount(paddle.ones([2, 2], "int64")),
        ShapeError,
        "must have 1 dimension",
    ),
    ("bincount float", lambda: paddle.bincount(paddle.ones([2])), DTypeError, "must hold integers"),
    (
        "bitwise",
        lambda: paddle.bitwise_and(paddle.ones([2]), paddle.ones([2])),
        DTypeError,
        "integers or bool",
    ),
    ("gcd", lambda: paddle.gcd(paddle.ones([2]), paddle.ones([2])), DTypeError, "must hold integers"),
    ("frexp", lambda: paddle.frexp(paddle.ones([2], "int64")), DTypeError, "must be floating"),
    ("nan_to_num", lambda: paddle.nan_to_num(paddle.ones([2], "int64")), DTypeError, "must be floating"),
    ("sgn", lambda: paddle.sgn(paddle.ones([2], "int64")), DTypeError, "use sign"),
    ("polygamma", lambda: paddle.polygamma(paddle.ones([2]), -1), ArgumentError, "n must be at least 0"),
    (
        "multiplex",
        lambda: paddle.multiplex([paddle.ones([2, 2])], paddle.ones([2, 1], "int32")),
        ShapeError,
        "two tensors or more",
    ),
    (
        "multiplex index",
        lambda: paddle.multiplex([paddle.ones([1, 2])] * 2, paddle.to_tensor([[-1]])),
        OutOfRangeError,
        "use 0 to 1",
    ),
    ("number", lambda: paddle.exp(1.0), ArgumentError, "must be a Tensor"),
    (
        "transpose",
        lambda: paddle.ones([2, 3]).transpose(0, 1),
        ArgumentError,
        "perm is a list that names every dimension once: got 0",
    ),
]


@pytest.mark.parametrize(("call", "kind", "words"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_errors_name_the_argument(call: Callable[[], Any], kind: type[EngineError], words: str) -> None:
    with pytest.raises(kind, match=words):
        call()


def test_a_range_stands_for_sizes_and_axes() -> None:
    x = paddle.ones([2, 3])
    assert paddle.zeros(range(2, 4)).shape == [2, 3]
    assert paddle.rand(range(2, 4)).shape == [2, 3]
    assert paddle.transpose(x, range(2)).shape == [2, 3]
    assert paddle.flip(x, range(2)).shape == [2, 3]
    assert x.sum(range(2)).item() == 6.0


@pytest.mark.parametrize(
    "call",
    [
        lambda x: paddle.moveaxis(x, 5, 0),
        lambda x: paddle.split(x, 1, -5),
        lambda x: paddle.unflatten(x, 5, [1, -1]),
        lambda x: paddle.take_along_axis(x, paddle.to_tensor([[0]]), 5),
        lambda x: bool(x),
        lambda x: int(x),
        lambda x: paddle.nn.functional.pad(x, [1, 1], mode="other"),
    ],
)
def test_failed_assertions_of_paddle_are_assertion_errors_too(call: Any) -> None:
    x = paddle.ones([2, 3])
    for kind in (AssertionError, ValueError):
        with pytest.raises(kind):
            call(x)
