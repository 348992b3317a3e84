"""Rows are in the files of their operators: ``engine/ops/linalg/lu.py`` has its rows in
``linalg/table_lu.py``."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from engine.core.operators.opdef import OPS
from tests.engine.ops.table import REPO

TABLES = sorted(Path(__file__).parent.glob("*/table_*.py"))


@pytest.mark.parametrize("path", TABLES, ids=[f"{p.parent.name}/{p.stem}" for p in TABLES])
def test_a_table_holds_the_operators_of_its_file(path: Path) -> None:
    table = importlib.import_module(".".join(path.relative_to(REPO).with_suffix("").parts))
    modules = {OPS[case.op].kernel.__module__ for case in table.CASES}
    assert modules == {f"engine.ops.{path.parent.name}.{path.stem.removeprefix('table_')}"}
