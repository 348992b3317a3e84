"""The table of operators: every one has a row of cases here, or the name of the test file that has it."""

from __future__ import annotations

from pathlib import Path

from tests.engine.ops import table_elementwise, table_nn, table_shapes, table_windows
from tests.engine.ops.case import Case

REPO = Path(__file__).resolve().parents[3]

CASES: list[Case] = [*table_elementwise.CASES, *table_shapes.CASES, *table_nn.CASES, *table_windows.CASES]

# Operators that run inside Programs only, or whose result is an effect.
ELSEWHERE: dict[str, str] = dict.fromkeys(
    ("conditional_block", "while", "while_grad", "print", "assert"), "tests/engine/ops/test_control.py"
)
