"""Every operator on integers and truth values: its rows again, as int64, int32 and bool.

An operator that takes them infers the spec of its kernel's result and computes the row's result; one that
doesn't refuses them when its result is inferred, or is listed below with the reason.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from engine.core.errors import EngineError
from engine.core.operators.opdef import OPS
from tests.each import each, grouped
from tests.engine.ops.case import Case
from tests.engine.ops.table import CASES
from tests.engine.ops.test_table import _copies, _run, _specs

KINDS = ("int64", "int32", "bool")
UPDATES = ("sgd", "momentum", "adam", "adamw", "adamax", "adagrad", "adadelta", "rmsprop", "lamb")
EXEMPT: dict[str, str] = (
    dict.fromkeys(UPDATES, "parameters are floating")
    | dict.fromkeys([f"{name}_flat" for name in UPDATES if name != "lamb"], "parameters are floating")
    | dict.fromkeys(
        [
            "fmax_takes_first",
            "fmin_takes_first",
            "max_pool2d_pick",
            "max_pool3d_pick",
            "sum_to_like",
            "logcumsumexp_jvp",
        ],
        "part of a gradient, which is floating",
    )
    | {
        "elementwise_pow": "an integer has no negative integer power",
        "elementwise_heaviside": "its rows' expectations depend on zeros",
    }
)
# Operators that take integers, but truth values only after a cast.
NO_BOOL: dict[str, str] = dict.fromkeys(
    [
        "elementwise_sub",
        "elementwise_mod",
        "elementwise_floordiv",
        "square",
        "sign",
        "clip",
        "round",
        "relu",
        "cross",
    ],
    "truth values are counted with as int64: the public function casts them",
) | {"put_along_axis": "truth values have no least and no greatest one to begin with"}


def _other(value: Any, kind: str) -> Any:
    """The floating arrays of a row as another kind; never 0, so that nothing divides by it."""
    if isinstance(value, list):
        return [_other(v, kind) for v in value]
    if value is None or value.dtype.kind != "f" or not np.isfinite(value).all():
        return value
    if kind == "bool":
        return value > 0
    return np.where(value > 0, np.ceil(value * 3), np.floor(value * 3)).astype(kind)


def _floats(value: Any, like: Any) -> Any:
    if isinstance(value, list):
        return [_floats(v, w) for v, w in zip(value, like, strict=True)]
    return value.astype("float64") if value is not None and like.dtype.kind == "f" else value


def _fractional(case: Case) -> bool:
    def fraction(value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return any(fraction(v) for v in value)
        return isinstance(value, float) and not value.is_integer()

    return any(fraction(v) for v in case.sample.attrs.values())


def _takes(case: Case) -> bool:
    """Whether the row has floating inputs that may become something else."""

    def floating(value: Any) -> bool:
        if isinstance(value, list):
            return any(floating(v) for v in value)
        return value is not None and value.dtype.kind == "f" and bool(np.isfinite(value).all())

    if case.op.endswith("_grad") or case.op in EXEMPT or _fractional(case):
        return False
    return any(floating(v) for v in case.sample.inputs)


ROWS = grouped([case for case in CASES if _takes(case)], lambda case: case.op)


def _check(case: Case, kind: str) -> None:
    opdef, before = OPS[case.op], _copies(case.sample.inputs)
    inputs = [_other(v, kind) for v in before]
    try:
        specs = opdef.infer_specs(_specs(inputs), opdef.with_defaults(case.sample.attrs))
    except EngineError:
        return  # refused, with a message (test_messages.py reads those)
    results = _run(case, _copies(inputs))
    for got, spec in zip(results, specs, strict=True):
        if got is not None and not case.data:
            assert got.dtype == spec.dtype.np
            assert all(s in (-1, d) for s, d in zip(spec.shape, got.shape, strict=True))
    if case.want is None:
        return
    as_floats = [_floats(v, w) for v, w in zip(_copies(inputs), before, strict=True)]
    want = case.want(*as_floats, **case.sample.attrs)
    for got, expected in zip(results, want if isinstance(want, (tuple, list)) else [want], strict=True):
        if expected is not None:
            np.testing.assert_allclose(got, np.asarray(expected).astype(got.dtype), rtol=1e-12)


@pytest.mark.parametrize("op", ROWS)
def test_other_dtypes(op: str) -> None:
    """All rows of an operator; one that fails is named."""
    kinds = [kind for kind in KINDS if kind != "bool" or op not in NO_BOOL]
    each(
        product(ROWS[op], kinds),
        lambda pair: f"{pair[0].id} as {pair[1]}",
        lambda pair: _check(*pair),
    )


def test_exemptions_are_needed() -> None:
    """Each is an operator of the table, which takes something else than floats."""
    assert (EXEMPT.keys() | NO_BOOL.keys()) - {case.op for case in CASES} == set()
