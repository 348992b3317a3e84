"""The bench of compiling measures every stage of this checkout, and of another one next to it."""

import re
from pathlib import Path

import pytest

from bench import compile as bench_compile


def test_lenet_against_another_checkout(repo_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench_compile.main(["--network", "lenet", "--rounds", "1", "--against", str(repo_root)])
    versions, header, *rows = capsys.readouterr().out.splitlines()
    assert versions.count("engine ") == 2
    assert header.split()[-4:] == ["trace", "optimize", "plan", "together"]
    measured = [re.findall(r"\d+\.\d / \d+\.\d", row) for row in rows if row.startswith("lenet")]
    assert len(measured) == 4
    for row in measured:
        shortest = [float(cell.split(" / ")[0]) for cell in row]
        assert len(row) == 4
        assert min(shortest) > 0
        assert shortest[-1] == pytest.approx(sum(shortest[:-1]), abs=0.2)
