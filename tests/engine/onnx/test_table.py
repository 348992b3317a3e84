"""Every row of the operator table as an ONNX file, with known or unknown shapes (``--long``: with both).

onnx's checker accepts it, and both runtimes give the results: within 1e-5 of the largest. What they draw at
random passes the check of the row.
"""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError
from engine.core.operators.opdef import OPS
from engine.onnx.write_model import import_rows, write_model
from engine.onnx.writes.rows import ROWS
from engine.onnx.writes.without import WITHOUT
from engine.program.graph.liveness import with_sub_blocks
from tests.engine.onnx.exceptions import EXCEPTIONS
from tests.engine.onnx.runs import apart, by_reference, by_runtime, checked, expected, program_of
from tests.engine.ops.case import Case
from tests.engine.ops.table import CASES

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))
RUNTIMES = {"onnxruntime": by_runtime, "reference": by_reference}

import_rows()
BY_OP: dict[str, list[Case]] = defaultdict(list)
for _case in CASES:
    if _case.op in ROWS:
        BY_OP[_case.op].append(_case)


def _excused(case: Case, what: str) -> bool:
    return (case.op, what) in EXCEPTIONS or (case.id, what) in EXCEPTIONS


def _faults(case: Case, unknown: bool) -> list[str]:
    if unknown and _excused(case, "unknown"):
        return []
    where = f"{case.id}{', unknown shapes' if unknown else ''}"
    try:
        program, feed = program_of(case, unknown)
        wanted = expected(program, feed)
    except Exception:  # no Program of this row runs
        return []
    if any(o.attrs.get("is_test") is False for o in with_sub_blocks(program.global_block().ops)):
        return []
    try:
        model = write_model(program, {})
    except ArgumentError as error:
        return [] if _excused(case, "writing") else [f"{where}: {error}"]
    checked(model)
    _seed(model)
    found = []
    for name, run in RUNTIMES.items():
        if not _excused(case, name):
            try:
                share = _difference(case, feed, run(model, feed), wanted)
            except Exception as error:  # the runtimes' own kinds
                found.append(f"{where}: {name}: {type(error).__name__}: {error}")
                continue
            if not share <= 1e-5:
                found.append(f"{where}: {name}: {share:.2g} of the largest apart")
    return found


def _seed(model: Any) -> None:
    """Make a runtime draw the same numbers in each run of the tests."""
    from onnx import helper

    for node in model.graph.node:
        if node.op_type.startswith("Random") and all(a.name != "seed" for a in node.attribute):
            node.attribute.append(helper.make_attribute("seed", 5.0))


def _difference(case: Case, feed: dict[str, Any], found: list[Any], wanted: list[Any]) -> float:
    if not OPS[case.op].random or case.check is None:
        return apart(found, wanted)
    results = [np.asarray(r) for r in found]
    assert [(r.shape, r.dtype) for r in results] == [(w.shape, w.dtype) for w in wanted]
    case.check(results, *(feed.get(name) for name in OPS[case.op].input_names), **case.sample.attrs)
    return 0.0


@pytest.mark.parametrize("op", sorted(BY_OP))
def test_both_runtimes_give_the_results(op: str) -> None:
    cases = []
    for number, case in enumerate(BY_OP[op]):
        both = (False, True) if LONG else (number % 2 == 0,)
        cases += [(case, unknown) for unknown in (both if case.unknown else (False,))]
    assert [fault for case, unknown in cases for fault in _faults(case, unknown)] == []


# What only trainings and their gradients hold.
TRAINING = (
    "training.averages",
    "training.flat_updates",
    "training.loss_scaling",
    "training.parameter_updates",
)
GRADIENTS = {
    "gradient", "grid_positions", "grid_slopes", "max_pool2d_pick", "max_pool3d_pick", "while_again",
}  # fmt: skip


def _is_saved(name: str) -> bool:
    package, _, room = OPS[name].kernel.__module__.partition(".ops.")
    if package != "engine" or room in TRAINING or room == "control.collectives":
        return False
    return not name.endswith("_grad") and name not in GRADIENTS


def test_every_operator_of_a_saved_model_has_a_row_or_a_reason() -> None:
    assert ROWS.keys() & WITHOUT.keys() == set()
    assert WITHOUT.keys() <= OPS.keys()
    assert [name for name in sorted(OPS.keys() - ROWS.keys() - WITHOUT.keys()) if _is_saved(name)] == []
    assert len(WITHOUT) <= 90


def test_exceptions_name_cases() -> None:
    names: set[Any] = {case.op for case in CASES} | {case.id for case in CASES}
    assert [key for key in EXCEPTIONS if key[0] not in names] == []
    assert {what for _, what in EXCEPTIONS} <= {*RUNTIMES, "unknown", "writing"}
