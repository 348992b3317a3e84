"""Rows of the operators in ``engine/ops/training/flat_updates.py``: those of one parameter, end to end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core.operators.opdef import OPS
from tests.engine.ops.case import Case, Sample, row
from tests.engine.ops.training import table_parameter_updates as one

RULES: dict[str, Callable[..., Any]] = {
    "sgd": lambda p, rate, g: p - rate.item() * g,
    "momentum": one._momentum,
    "adam": one._adam,
    "adamw": one._adamw,
    "adagrad": one._adagrad,
    "rmsprop": one._rmsprop,
    "adadelta": one._adadelta,
    "adamax": one._adamax,
}


def _joined(rule: str) -> Callable[..., Any]:
    """The reference for the parameters as one; powers are one number for each of them."""
    names = OPS[rule].input_names

    def want(*inputs: Any, **attrs: Any) -> Any:
        given = list(inputs)
        at = names.index("grad")
        given[at] = np.concatenate([g.reshape(-1) for g in inputs[at]])
        with_powers = [given[n][:1] if name.endswith("_pow") else given[n] for n, name in enumerate(names)]
        results = RULES[rule](*with_powers, **attrs)
        if not isinstance(results, tuple):
            return results
        return tuple(
            np.repeat(value, len(inputs[at])) if output.writes and output.writes.endswith("_pow") else value
            for output, value in zip(OPS[rule].outputs, results, strict=True)
        )

    return want


def _samples(rule: str) -> list[Sample]:
    """The samples of one parameter, which becomes two: its first two elements, and the others."""
    names = OPS[rule].input_names
    made = []
    for case in one.CASES:
        if case.op != rule or case.sample.inputs[names.index("param")].size < 3:
            continue
        given = []
        for name, value in zip(names, case.sample.inputs, strict=True):
            if name == "grad":
                flat = value.reshape(-1)
                given.append([flat[:2], flat[2:].reshape(1, -1)])
            elif name.endswith("_pow"):
                given.append(np.repeat(value, 2))
            elif name in ("learning_rate", "skip_update") or value is None:
                given.append(value)
            else:
                given.append(value.reshape(-1))
        made.append(Sample(tuple(given), case.sample.attrs))
    return made


CASES: list[Case] = [case for rule in RULES for case in row(f"{rule}_flat", _joined(rule), *_samples(rule))]
