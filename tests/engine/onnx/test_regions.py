"""Regions of feature maps in ONNX: roi_pool, whose table rows also ask for the positions of the maxima."""

from __future__ import annotations

from typing import Any

import pytest

from engine.core.errors import ArgumentError
from engine.onnx.write_model import write_model
from tests.engine.onnx.runs import apart, by_runtime, checked, expected, program_of
from tests.engine.ops.case import Case
from tests.engine.ops.table import CASES


def _cases(name: str) -> list[Any]:
    return [pytest.param(case, id=case.id) for case in CASES if case.op == name]


@pytest.mark.parametrize("case", _cases("roi_pool"))
@pytest.mark.parametrize("unknown", [False, True])
def test_roi_pool_gives_the_maxima(case: Case, unknown: bool) -> None:
    program, feed = program_of(case, unknown)
    program.outputs = program.outputs[:1]
    model = write_model(program, {})
    checked(model)
    assert apart(by_runtime(model, feed), expected(program, feed)) < 1e-5


def test_a_falling_threshold_of_suppression_is_refused() -> None:
    (case,) = (c for c in CASES if c.op == "multiclass_nms3" and c.sample.attrs.get("nms_eta", 1) != 1)
    program, _ = program_of(case, unknown=False)
    with pytest.raises(ArgumentError, match=r"nms_eta 0\.5"):
        write_model(program, {})
