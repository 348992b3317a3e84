"""The guide's page on several inputs: its data, its model and its commands run as they stand."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from studio.cli import app

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "several-inputs.md"


def test_the_page_on_several_inputs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text("utf-8")
    data, model = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(data, "data.py", "exec"), {})
    Path("parts.py").write_text(model, "utf-8")
    commands = [
        line for text in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) for line in text.splitlines()
    ]
    assert len(commands) == 4
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, done.output
    with open("predictions.csv", encoding="utf-8", newline="") as file:
        found = [int(row["class"]) for row in csv.DictReader(file)]
    assert np.mean(np.array(found) == np.arange(300) % 3) > 0.95
