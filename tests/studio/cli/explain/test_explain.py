"""``model-studio explain`` and ``activations``: images, tables, runs, what they print and write."""

from __future__ import annotations

import csv
import errno
import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import engine as paddle
from engine import nn
from engine.static import InputSpec
from studio.cli import app
from tests.robust.untrusted_models import saved


def call(*words: Any, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.stdout


@pytest.fixture
def model(tmp_path: Path) -> Path:
    network = nn.Sequential(nn.Conv2D(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 26 * 26, 10))
    return saved(network, tmp_path / "model")


@pytest.fixture
def digit(tmp_path: Path) -> Path:
    pixels = np.zeros((28, 28), np.uint8)
    pixels[4:24, 13:16] = 255
    Image.fromarray(pixels).save(tmp_path / "one.png")
    return tmp_path / "one.png"


@pytest.fixture
def table(tmp_path: Path) -> tuple[Path, Path]:
    """A model of three columns of which the second decides, and rows for it."""
    folder = tmp_path
    draw = np.random.default_rng(0)
    rows = draw.standard_normal((300, 3))
    lines = [f"{a:.4f},{b:.4f},{c:.4f},{5 * b:.4f}" for a, b, c in rows]
    (folder / "rows.csv").write_text("\n".join(["width,height,depth,price", *lines]))
    settings = ["--data", folder / "rows.csv", "--target", "price", "--model", "linear", "--epochs", "30"]
    call("train", *settings, "--lr", "0.01", "--out", folder / "run")
    call("export", folder / "run", "--out", folder / "model")
    (folder / "new.csv").write_text("width,height,depth\n1,2,0.5\n0.1,-3,1\n")
    return folder / "model", folder / "new.csv"


@pytest.mark.parametrize("method", ["saliency", "integrated", "occlusion"])
def test_map_of_an_image_is_written_next_to_it(model: Path, digit: Path, method: str) -> None:
    out = digit.with_name("map.png")
    said = call("explain", model, digit, "--method", method, "--class", "3", "--out", out)
    titles = {"integrated": "integrated gradients"}
    assert f"{titles.get(method, method)} of 3 (score " in said
    assert str(out) in said
    with Image.open(out) as found:
        pixels = np.asarray(found)
    side = pixels.shape[0]
    assert side % 28 == 0
    scale = side // 28
    assert (pixels[::scale, ::scale][:28, :28, 0] > 127).sum() >= 50  # the image itself
    assert np.ptp(pixels[:, -side:].reshape(-1, 3), axis=0).max() > 50


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "can't be read"), (b"text", "not an image"), (b"white", "there is no digit in it")],
)
def test_image_that_cannot_be_used_says_why(
    model: Path, tmp_path: Path, content: bytes | None, said: str
) -> None:
    file = tmp_path / "image.png"
    if content == b"white":
        Image.new("L", (40, 30), 255).save(file)
    elif content is not None:
        file.write_bytes(content)
    done = CliRunner().invoke(app, ["explain", str(model), str(file)])
    assert done.exit_code == 1
    assert done.stderr.startswith(f"{file}: {said}")


def test_numbers_of_a_map_are_those_of_the_engine(model: Path, digit: Path) -> None:
    from engine import explain

    out = digit.with_name("map.npy")
    words = ["--method", "integrated", "--class", "3", "--steps", "5", "--baseline", "white", "--out", out]
    said = json.loads(call("explain", model, digit, *words, "--json"))
    found = np.load(out)
    assert found.shape == (1, 1, 28, 28)
    assert (said["method"], said["class"], said["target"], said["steps"]) == ("integrated", "3", 3, 5)
    assert said["gap"] == pytest.approx(float(found.sum()) - said["difference"], abs=1e-4)
    assert explain.of_saved(model).outputs[0].shape == (-1, 10)
    call("explain", model, digit, "--out", digit.with_name("map.csv"))
    with digit.with_name("map.csv").open() as file:
        rows = list(csv.reader(file))
    assert (len(rows), len(rows[1])) == (29, 28)


def test_table_has_a_value_for_each_column(table: tuple[Path, Path], tmp_path: Path) -> None:
    model, rows = table
    said = json.loads(call("explain", model, rows, "--method", "integrated", "--sample", "1", "--json"))
    assert (said["class"], said["baseline"]) == ("price", "usual")
    values = said["values"]
    assert list(values) == ["width", "height", "depth"]
    assert max(values, key=lambda name: abs(values[name])) == "height"
    out = tmp_path / "values.csv"
    text = call("explain", model, rows, "--method", "occlusion", "--out", out)
    assert "  height = 2: +" in text
    assert "  covered by: the values that the training put for missing numbers" in text
    with out.open() as file:
        names = [row["name"] for row in csv.DictReader(file)]
    assert names == ["width", "height", "depth"]


def test_columns_of_words_have_no_gradient_and_say_so(tmp_path: Path) -> None:
    colors = ["red", "blue"]
    lines = [f"{n % 7},{colors[n % 2]},{'yes' if n % 2 else 'no'}" for n in range(120)]
    (tmp_path / "rows.csv").write_text("\n".join(["width,color,label", *lines]))
    call("train", "--data", tmp_path / "rows.csv", "--epochs", "1", "--out", tmp_path / "run")
    (tmp_path / "new.csv").write_text("width,color\n3,blue\n")
    words = ["explain", tmp_path / "run", tmp_path / "new.csv"]
    said = json.loads(call(*words, "--method", "integrated", "--json"))
    assert said["values"]["color"] is None
    assert said["values"]["width"] is not None
    text = call(*words)
    assert "  no gradient: color (words become integers); --method occlusion covers them" in text
    assert "color = " not in text
    assert "no gradient" not in (covered := call(*words, "--method", "occlusion"))
    assert "color = " in covered


def test_one_of_several_inputs_is_explained(tmp_path: Path) -> None:
    class Two(nn.Layer):
        def forward(self, image: Any, row: Any) -> Any:
            return (image.flatten(1)[:, :5] * row).sum(axis=1, keepdim=True)

    specs = [InputSpec([None, 3, 8, 8], "float32", "image"), InputSpec([None, 5], "float32", "row")]
    paddle.jit.save(Two(), str(tmp_path / "two"), input_spec=specs)
    image, row = np.full((2, 3, 8, 8), 0.5, np.float32), np.arange(10, dtype=np.float32).reshape(2, 5)
    np.savez(tmp_path / "two.npz", image=image, row=row)
    words = ["explain", tmp_path / "two", tmp_path / "two.npz", "--sample", "1", "--json"]
    said = json.loads(call(*words, "--input", "row", "--method", "integrated"))
    assert list(said["values"].values()) == [pytest.approx(0.5 * each, rel=1e-4) for each in row[1]]
    call(*words, "--input", "image", "--out", tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 0


def test_activations_are_listed_and_written(model: Path, digit: Path) -> None:
    out = digit.with_name("activations")
    said = call("activations", model, digit, "--out", out)
    assert "activations.csv and 3 images" in said
    with (out / "activations.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["operator"] for row in rows][:3] == ["conv2d", "elementwise_add", "relu"]
    assert rows[0]["shape"] == "1x4x26x26"
    assert all((out / row["file"]).is_file() for row in rows[:3])
    lines = [json.loads(line) for line in call("activations", model, digit, "--json").splitlines()]
    assert [line["operator"] for line in lines] == [row["operator"] for row in rows]


def test_activations_without_room_leave_nothing(
    model: Path, digit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.files import atomic

    written, before = [], atomic.atomic_write

    def full(path: Path, writer: Any) -> None:
        written.append(path)
        if len(written) == 3:
            raise atomic.save_error(path, error) from error
        before(path, writer)

    error = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(atomic, "atomic_write", full)
    out = digit.with_name("deep") / "activations"
    done = CliRunner().invoke(app, ["activations", str(model), str(digit), "--out", str(out)])
    assert done.exit_code == 1
    assert done.stderr.startswith(f"{out}{os.sep}002_relu")
    assert "no space left on device" in done.stderr
    assert not out.parent.exists()
    assert not list(digit.parent.glob(".*"))
    # Into a folder that is there: what lies in it stays as it was.
    out.mkdir(parents=True)
    (out / "activations.csv").write_text("before")
    written.clear()
    assert CliRunner().invoke(app, ["activations", str(model), str(digit), "--out", str(out)]).exit_code == 1
    assert [(each.name, each.read_text()) for each in out.iterdir()] == [("activations.csv", "before")]
    assert [each.name for each in out.parent.iterdir()] == ["activations"]


def test_activations_replace_those_in_a_folder(model: Path, digit: Path) -> None:
    out = digit.with_name("activations")
    out.mkdir()
    for name in ("activations.csv", "notes.txt"):
        (out / name).write_text("before")
    call("activations", model, digit, "--out", out)
    assert len(list(out.iterdir())) == 5
    assert (out / "notes.txt").read_text() == "before"
    assert (out / "activations.csv").read_text().startswith("operator")


def test_interrupted_occlusion_writes_its_part(
    model: Path, digit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.explain.sample import Sample

    asked, before = [], Sample.scores

    def scores(self: Sample, variants: Any) -> Any:
        asked.append(len(variants))
        if len(asked) == 3:
            signal.raise_signal(signal.SIGINT)
        return before(self, variants)

    monkeypatch.setattr(Sample, "scores", scores)
    monkeypatch.setattr(Sample, "together", 6)
    words = ["explain", str(model), str(digit), "--method", "occlusion", "--size", "7", "--stride", "7"]
    for out, options in (("map.npy", ["--json"]), ("map.png", [])):
        asked.clear()
        file = digit.with_name(out)
        file.write_bytes(b"before")
        done = CliRunner().invoke(app, [*words, "--out", str(file), *options])
        assert (done.exit_code, done.stderr) == (1, "stopped\n"), done.output
        assert file.read_bytes() == b"before"
        part = file.with_name(f"map.partial{file.suffix}")
        assert str(part) in done.stdout
        if options:
            said, values = json.loads(done.stdout), np.load(part)
            assert (said["partial"], said["color"]) == (True, "mean")
            assert said["share"] == pytest.approx(np.isfinite(values).mean())
            assert 0.0 < said["share"] < 1.0
        else:
            assert f"{digit}: partial occlusion of " in done.stdout
            assert " of the windows were computed" in done.stdout
            assert "covered by: the mean of the image" in done.stdout
            assert part.read_bytes().startswith(b"\x89PNG")


def test_checkpoint_of_a_saved_model_is_refused(model: Path, digit: Path) -> None:
    for command in ("explain", "activations"):
        done = CliRunner().invoke(app, [command, str(model), str(digit), "--checkpoint", "4"])
        assert done.exit_code == 1
        assert "--checkpoint chooses one of a run" in done.stderr


def test_run_is_explained_at_a_checkpoint(bars: Path, tmp_path: Path, digit: Path) -> None:
    run = tmp_path / "run"
    call("train", "--data", bars, "--model", "linear", "--epochs", "2", "--lr", "0.01", "--out", run)
    first, best = (
        json.loads(call("explain", run, digit, *words, "--class", "1", "--json"))
        for words in (["--checkpoint", "4"], [])
    )
    assert first["class"] == best["class"] == "1"
    assert first["score"] != best["score"]
