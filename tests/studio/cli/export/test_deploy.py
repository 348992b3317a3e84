"""Deployed folders: predict.py without this product predicts as the command predict does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest
from PIL import Image
from typer.testing import CliRunner

from resources.settings.export import FOLDER, ExportSettings
from studio.cli import app
from studio.session.export.export_job import Export

# Nothing of this product can be imported, and neither can the package onnx.
_ALONE = """
import runpy, sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("engine", "studio", "resources", "widgets", "onnx"):
            raise ImportError(f"{name} is hidden")
sys.meta_path.insert(0, Hidden())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def call(*words: object, status: int = 0) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == status, done.output
    return done.output if status else done.stdout


def alone(folder: Path, *words: object) -> tuple[int, str]:
    """Exit status and output of predict.py in a process that has nothing of this product."""
    done = subprocess.run(
        [sys.executable, "-c", _ALONE, str(folder / "predict.py"), *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout or done.stderr


def compared(run: Path, deployed: Path, *files: Path) -> list[dict[str, Any]]:
    """The lines of predict.py, which must be those of the command predict."""
    call("export", run, "--out", run / "model.h5", "--format", "packed")
    wanted = [json.loads(line) for line in call("predict", run / "model.h5", *files, "--json").splitlines()]
    status, said = alone(deployed, *files)
    assert status == 0, said
    found = [json.loads(line) for line in said.splitlines()]
    for ours, theirs in zip(wanted, found, strict=True):
        if "values" in ours:
            assert theirs["values"] == pytest.approx(ours["values"], rel=1e-5)
        else:
            assert theirs["class"] == ours["class"]
            assert theirs["probability"] == pytest.approx(ours["probability"], rel=1e-4)
    status, said = alone(deployed, "--check")
    assert (status, said.split(":")[0]) == (0, "equal"), said
    return found


def houses(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    size, rooms, color = rng.uniform(40, 120, 90), rng.integers(1, 6, 90), rng.integers(0, 3, 90)
    words = np.array(["blue", "green", "red"])[color]
    price = 3 * size + 20 * rooms + 100 * (color == 2)
    rows = [f"{a:.1f};{b};{c};{d:.2f}" for a, b, c, d in zip(size, words, rooms, price, strict=True)]
    data = folder / "houses.csv"
    data.write_text("\n".join(["area (m2);color;rooms;price", *rows]).replace(".", ",") + "\n")
    return data


def test_rows_with_words_without_this_product(tmp_path: Path) -> None:
    run, deployed = tmp_path / "run", tmp_path / "deployed"
    data = houses(tmp_path)
    call("train", "--data", data, "--target", "price", "--model", "linear", "--epochs", "1", "--out", run)
    call("export", run, "--deploy", deployed)
    new = tmp_path / "new.csv"
    new.write_text("rooms,color,area (m2)\n3,red,61.5\n2,violet,80\n5, blue ,44.25\n")
    found = compared(run, deployed, new, data)
    assert len(found) == 93
    # A wrong expectation is found, and has the status of a difference.
    expected = json.loads((deployed / "expected.json").read_text())
    expected["outputs"][0][0] += 1.0
    (deployed / "expected.json").write_text(json.dumps(expected))
    assert alone(deployed, "--check")[0] == 3
    assert alone(deployed)[0] == 2
    new.write_text("rooms,area (m2)\n3,61.5\n")
    assert alone(deployed, new) == (1, f"{new}: no column 'color'\n")


def test_the_check_finds_a_changed_weight_and_reports_a_damaged_model(tmp_path: Path) -> None:
    run, deployed = tmp_path / "run", tmp_path / "deployed"
    data = houses(tmp_path)
    call("train", "--data", data, "--target", "price", "--model", "linear", "--epochs", "1", "--out", run)
    # As the window does, whose event names the model in the folder.
    events: list[Any] = []
    job = Export(str(run), str(deployed), ExportSettings(format=FOLDER, fixed=True))
    job.run(events.append, cast(Any, None))
    assert events[-1]["prefix"] == str(deployed / "model.onnx")
    described = json.loads(call("inspect", deployed / "model.onnx", "--json"))
    assert events[-1]["save_id"] == described["save_id"] != ""
    assert events[-1]["difference"] < 1e-2  # prices of hundreds, in float32
    assert set(events[-1]["sizes"]) >= {"model.onnx", "predict.py", "README.md", "labels.txt"}
    model = onnx.load(deployed / "model.onnx")
    weight = max(model.graph.initializer, key=lambda each: int(np.prod(each.dims)))
    weight.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(weight) * 1.01, weight.name))
    onnx.save(model, deployed / "model.onnx")
    status, said = alone(deployed, "--check")
    assert (status, said.split(":")[0]) == (3, "different"), said
    content = (deployed / "model.onnx").read_bytes()
    (deployed / "model.onnx").write_bytes(content[: len(content) // 2])
    status, said = alone(deployed, "--check")
    assert (status, said.count("\n")) == (1, 1), said
    assert said.startswith(str(deployed / "model.onnx"))


def test_images_without_this_product(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for number in range(24):
        folder = tmp_path / "images" / f"class{number % 2}"
        folder.mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 120, (40 + number % 3 * 7, 33, 3)).astype(np.uint8)
        pixels[..., number % 2] += 100
        Image.fromarray(pixels).save(folder / f"{number}.png")
    run, deployed = tmp_path / "run", tmp_path / "deployed"
    form = ("--resize", "16", "--fit", "crop")
    call("train", "--data", tmp_path / "images", *form, "--model", "mlp", "--epochs", "1", "--out", run)
    call("export", run, "--deploy", deployed, "--fixed")
    clear = rng.integers(0, 255, (50, 20, 4)).astype(np.uint8)
    Image.fromarray(clear).save(tmp_path / "clear.png")
    Image.fromarray(clear[..., 0]).save(tmp_path / "grey.jpg")
    found = compared(run, deployed, tmp_path / "clear.png", tmp_path / "grey.jpg", tmp_path / "images")
    assert len(found) == 26
    inputs = json.loads(call("inspect", deployed / "model.onnx", "--json"))["inputs"]
    assert [each["shape"] for each in inputs] == [[1, 3, 16, 16]]
    assert (deployed / "labels.txt").read_text() == "class0\nclass1\n"


def test_drawn_digits_without_this_product(tmp_path: Path) -> None:
    run, deployed = tmp_path / "run", tmp_path / "deployed"
    size = ("--samples", "64")
    call("train", "--data", "digits", *size, "--model", "linear", "--epochs", "1", "--out", run)
    call("export", run, "--deploy", deployed)
    paper = np.full((90, 70), 230, np.uint8)
    paper[20:70, 30:38] = 20
    Image.fromarray(paper).save(tmp_path / "drawn.png")
    compared(run, deployed, tmp_path / "drawn.png")


def test_the_folder_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.training import deploy

    run = tmp_path / "run"
    data = houses(tmp_path)
    call("train", "--data", data, "--target", "price", "--model", "linear", "--epochs", "1", "--out", run)
    before = sorted(tmp_path.iterdir())

    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(deploy, "readme", full)
        assert "no space left" in call("export", run, "--deploy", tmp_path / "new", status=1)
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "file").write_text("mine")
    assert "not an empty folder" in call("export", run, "--deploy", tmp_path / "used", status=1)
    assert [each.name for each in (tmp_path / "used").iterdir()] == ["file"]
