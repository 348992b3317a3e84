"""The command checkpoints: the list, JSON, files, and what is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from studio.cli import app
from tests.studio.session.checkpoints.stored_run import write_run, write_step


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def test_it_lists_what_was_measured(run: Path) -> None:
    write_step(run, 25)
    done = CliRunner().invoke(app, ["checkpoints", str(run)])
    assert done.exit_code == 0, done.output
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["step", "epoch", "accuracy", "loss", "measured", "at", "size", "file"]
    assert [line[0] for line in lines[1:]] == ["10", "20", "25", "30"]
    assert lines[3][2:3] + lines[3][5:7] == ["75.00", "step", "20"]
    assert lines[2][-1] == "(best)"


def test_json_has_all_and_a_damaged_one_is_named(run: Path) -> None:
    (run / "checkpoints" / "step-00000010.h5").write_bytes(b"x" * 600)
    done = CliRunner().invoke(app, ["checkpoints", str(run), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [each["step"] for each in found["checkpoints"]] == [20, 30]
    assert found["checkpoints"][1]["measured"] == {
        "step": 30, "epoch": 3, "validation_loss": pytest.approx(1 / 30), "validation_accuracy": 0.875,
    }  # fmt: skip
    assert [each["name"] for each in found["left_out"]] == ["step-00000010.h5"]
    assert "step-00000010.h5 is left out" in done.stderr


def test_it_writes_files(run: Path, tmp_path: Path) -> None:
    gif, strip = tmp_path / "a.gif", tmp_path / "b.png"
    words = ["checkpoints", str(run), "--gif", str(gif), "--strip", str(strip), "--layer", "fc.weight"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert f"{gif}: 3 checkpoints" in done.stdout.replace("\n", "")
    for path, kind in ((gif, "GIF"), (strip, "PNG")):
        with Image.open(path) as image:
            assert image.format == kind
