"""The command suggest, and the commands that use what it suggests."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from studio.cli import app


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [f"{n % 7},{n % 5},{'yes' if n % 7 > 3 else 'no'}" for n in range(40)]
    (tmp_path / "t.csv").write_text("a,b,label\n" + "\n".join(rows) + "\n")
    return tmp_path / "t.csv"


def test_each_choice_is_printed_with_its_reason_and_a_command_that_trains(data: Path, tmp_path: Path) -> None:
    done = call("suggest", "--data", data, "--epochs", "1")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert "model: mlp (a multilayer perceptron for 32 rows of a table)" in lines
    assert not any(line.startswith("epochs:") for line in lines)
    words = shlex.split(lines[-1])
    assert words[:2] == ["model-studio", "train"]
    assert call(*words[1:], "--out", tmp_path / "run").exit_code == 0


def test_json_has_settings_reasons_and_the_models_that_do_not_fit(data: Path) -> None:
    found = json.loads(call("suggest", "--data", data, "--json").stdout)
    assert found["settings"]["model"] == "mlp"
    assert found["data"]["kind"] == "table"
    assert found["models"]["gru"] == "takes sequences: yours are table"
    assert found["seconds"] > 0


def test_a_terminal_shows_the_part_that_is_measured(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.training import TrainingConfig
    from engine.training.suggesting.estimate import estimated
    from engine.training.suggesting.suggest import PHASES, suggested

    parts: list[tuple[str, float]] = []
    found = suggested(TrainingConfig(str(data), epochs=1), report=lambda *part: parts.append(part))
    estimated(found.config, lambda *part: parts.append(part))
    assert parts == [
        ("Reading the data", 0),
        ("Choosing settings", 1),
        ("Building mlp", 2),
        ("Measuring step 1 of 1 with mlp", 3),
    ]
    assert parts[-1][1] < PHASES
    monkeypatch.setenv("FORCE_COLOR", "1")
    done = call("suggest", "--data", data, "--epochs", "1")
    assert "Measuring step 1 of 1 with mlp" in done.stderr
    assert "Measuring" not in done.stdout
    assert "Measuring" not in call("suggest", "--data", data, "--epochs", "1", "--json").stderr


def test_train_says_what_it_chose(data: Path, tmp_path: Path) -> None:
    done = call("train", "--data", data, "--epochs", "1", "--out", tmp_path / "run")
    assert done.exit_code == 0
    assert "model: mlp (a multilayer perceptron" in done.output


def test_a_sweep_varies_one_setting_of_what_is_suggested(data: Path) -> None:
    done = call("sweep", "--data", data, "--param", "lr=0.1,0.01", "--dry-run", "--json")
    assert done.exit_code == 0
    settings = json.loads(done.stdout.splitlines()[0])
    assert "mlp" in json.dumps(settings)


def test_a_target_that_is_not_named_is_refused_with_all_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,size,price\n" + "\n".join(f"{n},{n % 7},{n / 3}" for n in range(30)))
    done = call("suggest", "--data", path)
    assert done.exit_code == 1
    for name in ("id", "size", "price", "--target"):
        assert name in done.output
