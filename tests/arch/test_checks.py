"""What CI and pre-commit run: the coverage table, and hooks that are the checks of CI."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path


def summary(covered: int, statements: int) -> dict[str, dict[str, int]]:
    return {"summary": {"covered_lines": covered, "num_statements": statements}}


def test_the_coverage_table_counts_rooms_and_shows_the_least_covered_first(
    tmp_path: Path, repo_root: Path
) -> None:
    files = {
        "engine/eager/mode.py": summary(8, 10),
        "engine/eager/tensor.py": summary(10, 10),
        "engine/files/__init__.py": summary(0, 0),
        "engine/program/run/plan.py": summary(1, 4),
        "studio/cli.py": summary(3, 4),
        "widgets\\plot\\curve.py": summary(1, 2),
        "tests/conftest.py": summary(0, 9),
    }
    report = tmp_path / "coverage.json"
    report.write_text(json.dumps({"files": files}), encoding="utf-8")
    script = repo_root / ".ci" / "coverage_report.py"
    done = subprocess.run(
        [sys.executable, str(script), str(report)], capture_output=True, check=True, encoding="utf-8"
    )
    assert [" ".join(line.split()) for line in done.stdout.splitlines()] == [
        "line coverage:",
        "engine 79.2 % 19 of 24 lines",
        "studio 75.0 % 3 of 4 lines",
        "widgets 50.0 % 1 of 2 lines",
        "least covered rooms:",
        "engine/program 25.0 % 1 of 4 lines",
        "widgets/plot 50.0 % 1 of 2 lines",
        "studio/*.py 75.0 % 3 of 4 lines",
        "engine/eager 90.0 % 18 of 20 lines",
    ]


def test_pre_commit_runs_checks_of_ci_from_the_environment(repo_root: Path) -> None:
    config = (repo_root / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    entries = re.findall(r"^        entry: (.+)$", config, re.MULTILINE)
    assert [entry.split()[0] for entry in entries] == ["ruff", "ruff", "mypy"]
    ci = (repo_root / ".ci" / "run").read_text(encoding="utf-8")
    for command in ('"$bin/ruff" check .', '"$bin/ruff" format --check .', '"$bin/mypy"'):
        assert command in ci
    for module in ("ruff", "mypy"):
        assert importlib.util.find_spec(module) is not None
    assert config.count("language: system") == len(entries)  # nothing is downloaded, versions are ours
