"""The command predict on rows of tables and on sequences: text, JSON lines, tables, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from studio.cli import app
from tests.raw_models import MODELS, saved_model


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("models")
    return {name: saved_model(name, folder) for name in MODELS}


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "new.csv"
    path.write_text("rooms;colour;size (m2)\n2;red;80,5\n1;pink;\n")
    return path


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["predict", *map(str, words)])


def test_numbers_are_printed_with_their_unit_and_counts_are_noted(models: dict[str, str], rows: Path) -> None:
    done = call(models["prices"], rows)
    assert done.exit_code == 0, done.output
    assert done.stdout == f"{rows} row 0: price 80523 EUR\n{rows} row 1: price 80010 EUR\n"
    assert done.stderr.splitlines() == [
        f"note: {rows}: column colour: 1 word that training never saw",
        f"note: {rows}: column size (m2): 1 missing value",
    ]


def test_json_has_a_line_for_each_row(models: dict[str, str], rows: Path) -> None:
    numbers = [json.loads(line) for line in call(models["prices"], rows, "--json").stdout.splitlines()]
    assert numbers == [
        {"file": str(rows), "row": 0, "values": {"price [EUR]": 80523.0}},
        {"file": str(rows), "row": 1, "values": {"price [EUR]": 80010.0}},
    ]
    classes = [json.loads(line) for line in call(models["kinds"], rows, "--json").stdout.splitlines()]
    assert [(each["row"], each["class"]) for each in classes] == [(0, "small"), (1, "small")]
    assert classes[0]["probability"] == pytest.approx(1.0)
    assert [each["class"] for each in classes[0]["top"]] == ["small", "large"]


def test_a_table_of_all_rows_is_written(models: dict[str, str], rows: Path, tmp_path: Path) -> None:
    rows.write_text(rows.read_text() + "x;red;1\n")
    done = call(models["prices"], rows, "--out", tmp_path / "out.csv", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout) == {"out": str(tmp_path / "out.csv"), "predicted": 2, "failed": 1}
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[:3] == ["name,price [EUR],problem", "0,80523,", "1,80010,"]
    assert "row 2, column rooms: not a number: 'x'" in lines[3]


def test_sequences_of_files(models: dict[str, str], tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.array([[1.0, 0.0], [2.0, 0.0]]))
    np.savez(
        tmp_path / "two.npz", x=np.array([[[1.0, 0], [-9, 0]], [[-1.0, 0], [0, 0]]]), lengths=np.array([1, 2])
    )
    (tmp_path / "text.csv").write_text("-1,0\n-2,0\n")
    paths = [tmp_path / name for name in ("one.npy", "two.npz", "text.csv")]
    done = call(models["waves"], *paths, "--json")
    assert done.exit_code == 0, done.output
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(Path(each["file"]).name, each["row"], each["class"]) for each in found] == [
        ("one.npy", 0, "up"),
        ("two.npz", 0, "up"),
        ("two.npz", 1, "down"),
        ("text.csv", 0, "down"),
    ]
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("model", "text", "reason"),
    [
        (
            "prices",
            "rooms,colour\n1,red\n",
            "no column 'size (m2)': the model takes size (m2), colour",
        ),
        ("prices", "1,2\n", "2 values in a row and no names of columns: the model takes 3"),
        ("prices", "", "no table"),
        ("waves", "1,2,3\n1,2,3\n", "sequences of shape [2, 3]: the model takes [4, 2]"),
        ("waves", "1,2\n" * 5, "a sequence of 5 steps: the model takes at most 4"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_in_one_line(
    models: dict[str, str], tmp_path: Path, model: str, text: str, reason: str
) -> None:
    (tmp_path / "bad.csv").write_text(text)
    done = call(models[model], tmp_path / "bad.csv")
    assert (done.exit_code, done.stdout) == (1, "")
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1
