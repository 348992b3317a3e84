"""The command quantize on a run and on a saved model; its files in predict and inspect."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from engine.quantization.report import QuantizationReport
from studio.cli import app


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def run(bars: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "linear"
    done = call("train", "--data", bars, "--model", "linear", "--epochs", "2", "--lr", "0.01", "--out", out)
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(scope="module")
def told(run: Path) -> dict[str, object]:
    """What quantizing the run says as JSON."""
    done = call("quantize", run, "--algo", "mse", "--samples", "64", "--json")
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    event: dict[str, object] = json.loads(done.stdout)
    return event


def test_the_run_gets_files_beside_its_export(run: Path, told: dict[str, object]) -> None:
    assert (told["event"], told["prefix"]) == ("quantized", str(run / "inference" / "quantized"))
    report = QuantizationReport.from_plain(told["report"])
    assert (report.algo, report.samples, len(report.layers)) == ("mse", 64, 1)
    assert report.accuracy is not None
    assert report.accuracy.float == 1.0
    assert sorted(path.name for path in (run / "inference").iterdir()) == [
        "quantized.pdiparams", "quantized.pdiparams.info", "quantized.pdmodel",
    ]  # fmt: skip


def test_inspect_shows_the_report_again(run: Path, told: dict[str, object]) -> None:
    prefix = run / "inference" / "quantized"
    found = json.loads(call("inspect", prefix, "--json").stdout)
    assert found["quantization"] == told["report"]
    assert "quantization" not in found["info"]
    assert found["parameters"] == 7850, "weights count, although they are integers"
    shown = " ".join(call("inspect", prefix).stdout.split())
    assert "after training, weights of 8 bits" in shown
    assert "100.00% -> 100.00%: 0.00 points lost on 50 test samples, 0 answers changed" in shown


def test_predict_asks_it_like_the_model_in_float(run: Path, told: dict[str, object], tmp_path: Path) -> None:
    done = call("export", run, "--out", tmp_path / "float", "--samples", "5")
    assert done.exit_code == 0, done.output
    assert json.loads(call("inspect", tmp_path / "float", "--json").stdout)["quantization"] is None
    pixels = np.zeros((28, 28), np.uint8)
    pixels[8:11, 4:24] = 255
    Image.fromarray(pixels).save(tmp_path / "bar.png")
    before, after = (
        json.loads(call("predict", prefix, tmp_path / "bar.png", "--json").stdout)
        for prefix in (tmp_path / "float", str(told["prefix"]))
    )
    assert after["class"] == before["class"]
    assert after["probability"] == pytest.approx(before["probability"], abs=0.05)
    assert after["probability"] != before["probability"], "another model answered"


def test_the_printed_report_says_what_it_cost(run: Path, tmp_path: Path) -> None:
    done = call(
        "quantize", run, "--out", tmp_path / "m", "--bits", "4", "--samples", "32", "--no-sensitivity"
    )
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert "weights of 4 bits (channel_wise_abs_max), values of 4 bits" in said
    assert "thresholds by hist from 32 samples" in said
    assert "KB -> " in said
    assert "measured here" in said
    assert "points" not in said.partition("alone costs")[2].partition("class")[0], (
        "nobody asked for each layer"
    )
