"""The tiers of tests/tiers.py: every row of the table matches tests, and a run takes what its options say."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiers import DEEP, KEPT, ONLY_LONG, group_of, is_only_long, matches, may_be_repeated

FILES = {
    "tests/robust/test_kills.py": "import nowhere",
    "tests/engine/test_plain.py": "def test_one(): pass",
    "tests/engine/ops/test_table.py": (
        "def test_forward(): pass\ndef test_second_order(): pass\ndef test_second_order_too(): pass"
    ),
    "tests/studio/windows/test_cut_off.py": (
        "import pytest\n"
        "@pytest.mark.parametrize('size', ['1280x800', 'its half'])\n"
        "def test_nothing_is_cut_off(size): pass"
    ),
    "tests/engine/distributed/test_processes.py": (
        "import pytest\n"
        "@pytest.mark.parametrize('file', ['ranks.py-2', 'programs.py-2'])\n"
        "def test_checks_of_each_rank(file): pass"
    ),
}
PLAIN = {
    "test_one",
    "test_forward",
    "test_second_order_too",
    "test_checks_of_each_rank[programs.py-2]",
    "test_nothing_is_cut_off[its half]",
}
ADDED = {"test_second_order", "test_checks_of_each_rank[ranks.py-2]", "test_nothing_is_cut_off[1280x800]"}


def _functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")
    }


def _names(root: Path) -> list[str]:
    """Folders, files and functions of tests, as a row of the table names them."""
    names = []
    for path in sorted((root / "tests").rglob("test_*.py")):
        file = path.relative_to(root).as_posix()
        names += [file, *(f"{file}::{function}" for function in _functions(path))]
        names += [parent.as_posix() for parent in Path(file).parents]
    return names


def test_every_row_matches_a_test(repo_root: Path) -> None:
    names = _names(repo_root)
    functions = {group.name: group.name.partition("[")[0] for group in DEEP}
    assert [row for row, part in functions.items() if not any(matches(part, name) for name in names)] == []
    kept = {name.partition("[")[0] for name in KEPT}
    assert kept - set(names) == set()
    assert [group.name for group in DEEP if len(group.reason.split()) < 3] == []


def test_rows_of_long_runs_belong_to_deep_groups(repo_root: Path) -> None:
    names, parts = _names(repo_root), [row.partition("[")[0] for row in ONLY_LONG]
    assert [part for part in parts if not any(matches(part, name) for name in names)] == []
    assert [row for row in ONLY_LONG if group_of(row.replace("*", "x")) is None] == []
    assert is_only_long("tests/robust/test_places.py::test_commands_run_without_locks[EIO]")
    assert not is_only_long("tests/robust/test_places.py::test_commands_run_without_locks[ENOLCK]")


def test_a_kept_case_belongs_to_a_deep_group() -> None:
    files = {name.partition("::")[0] for name in KEPT}
    assert [file for file in files if group_of(f"{file}::test_of_no_name") is None and file not in KEPT] == []
    assert [name for name in KEPT if group_of(name)] == []


@pytest.fixture
def tree(tmp_path: Path, repo_root: Path) -> Path:
    """A small copy of the tests, with the tiers of the whole."""
    for name in (
        "tests/conftest.py",
        "tests/compiling.py",
        "tests/each.py",
        "tests/peak_memory.py",
        "tests/tiers.py",
        "pyproject.toml",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(repo_root / name, tmp_path / name)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def _collected(tree: Path, *words: str) -> set[str]:
    unused = [word for name in ("cacheprovider", "xdist") for word in ("-p", f"no:{name}")]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *unused, *words]
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=tree, env=env, capture_output=True, encoding="utf-8", check=False)
    return {line.rpartition("::")[2] for line in done.stdout.splitlines() if "::" in line or "rror" in line}


def test_options_and_names_choose_the_tests(tree: Path) -> None:
    assert _collected(tree) == PLAIN  # what is deep is not even imported
    assert _collected(tree, "tests/engine/ops") == {"test_forward", "test_second_order_too"}
    table = "tests/engine/ops/test_table.py"
    assert _collected(tree, table) == {"test_forward", "test_second_order", "test_second_order_too"}
    assert _collected(tree, f"{table}::test_second_order") == {"test_second_order"}
    (tree / "tests/robust/test_kills.py").write_text("def test_killed(): pass", encoding="utf-8")
    assert _collected(tree, "--deep-only") == ADDED | {"test_killed"}
    assert _collected(tree, "--deep") == PLAIN | ADDED | {"test_killed"}
    assert _collected(tree, "--long") == PLAIN | ADDED | {"test_killed"}


def test_few_failures_that_wait_for_processes_may_be_repeated() -> None:
    waits = "tests/robust/test_kills.py::test_a_power_cut_in_a_save"
    assert may_be_repeated([waits])
    assert not may_be_repeated([])
    assert not may_be_repeated([waits] * 4)
    assert not may_be_repeated([waits, "tests/engine/ops/test_table.py::test_second_order[abs]"])
    assert not may_be_repeated([waits, "tests/engine/test_fft.py::test_shapes"])
