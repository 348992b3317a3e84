"""The command quantize on a run and on a saved model; its files in predict and inspect."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console
from typer.testing import CliRunner, Result

from engine.quantization.report import (
    Accuracy,
    ClassAccuracy,
    Latency,
    LayerReport,
    QuantizationReport,
    Sizes,
    Skipped,
)
from studio.cli import app
from studio.cli.export.quantize_output import show_report


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def run(bars: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "linear"
    done = call("train", "--data", bars, "--model", "linear", "--epochs", "2", "--lr", "0.01", "--out", out)
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(scope="module")
def outcome(run: Path) -> dict[str, object]:
    """What quantizing the run says as JSON."""
    done = call("quantize", run, "--algo", "mse", "--samples", "64", "--json")
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    event: dict[str, object] = json.loads(done.stdout)
    return event


def test_the_run_gets_files_next_to_its_export(run: Path, outcome: dict[str, object]) -> None:
    assert (outcome["event"], outcome["prefix"]) == ("quantized", str(run / "inference" / "quantized"))
    report = QuantizationReport.from_plain(outcome["report"])
    assert (report.algo, report.samples, len(report.layers)) == ("mse", 64, 1)
    assert report.accuracy is not None
    assert report.accuracy.float == 1.0
    assert sorted(path.name for path in (run / "inference").iterdir()) == [
        "quantized.pdiparams",
        "quantized.pdiparams.info",
        "quantized.pdmodel",
    ]


def test_inspect_shows_the_report_again(run: Path, outcome: dict[str, object]) -> None:
    prefix = run / "inference" / "quantized"
    found = json.loads(call("inspect", prefix, "--json").stdout)
    assert found["quantization"] == outcome["report"]
    assert "quantization" not in found["info"]
    assert found["parameters"] == 7850, "weights count, although they are integers"
    shown = " ".join(call("inspect", prefix).stdout.split())
    assert "after training, weights of 8 bits" in shown
    assert "100.00 % -> 100.00 %: 0.00 points lost on 50 test samples, 0 answers changed" in shown


def test_predict_asks_it_like_the_model_in_float(
    run: Path, outcome: dict[str, object], tmp_path: Path
) -> None:
    done = call("export", run, "--out", tmp_path / "float", "--samples", "5")
    assert done.exit_code == 0, done.output
    assert json.loads(call("inspect", tmp_path / "float", "--json").stdout)["quantization"] is None
    pixels = np.zeros((28, 28), np.uint8)
    pixels[8:11, 4:24] = 255
    Image.fromarray(pixels).save(tmp_path / "bar.png")
    before, after = (
        json.loads(call("predict", prefix, tmp_path / "bar.png", "--json").stdout)
        for prefix in (tmp_path / "float", str(outcome["prefix"]))
    )
    assert after["class"] == before["class"]
    assert after["probability"] == pytest.approx(before["probability"], abs=0.05)
    assert after["probability"] != before["probability"], "another model answered"


def test_the_printed_report_says_what_it_cost_and_why_layers_stay() -> None:
    report = QuantizationReport(
        method="qat",
        algo="moving_average_abs_max",
        weight_bits=4,
        activation_bits=3,
        weight_type="abs_max",
        samples=600,
        seconds=2.0,
        skipped=(Skipped("fc2", "skipped by 'fc*'"),),
        layers=(
            LayerReport("fc1", "matmul_v2", "w", True, 1.5, 1e-3, 2e-2, -0.25),
            LayerReport("fc2", "matmul_v2", "v", False),
        ),
        sizes=Sizes({"pdmodel": 1024, "pdiparams": 9216}, {"pdmodel": 2048, "pdiparams": 3072}),
        latency=Latency(1e-4, 3e-4),
        difference=0.5,
        accuracy=Accuracy(0.75, 0.5, 8),
        changed_count=3,
        per_class=ClassAccuracy(("cat", "dog", "owl"), (0.5, 1.0, None), (0.25, 1.0, None)),
    )
    screen = Console(width=150, record=True, file=io.StringIO())
    show_report(report, "out/m", screen)
    said = " ".join(screen.export_text().split())
    assert "out/m: with training (QAT), weights of 4 bits (abs_max), values of 3 bits" in said
    assert "thresholds by training from 600 samples in 2.0 s" in said
    assert "75.00 % -> 50.00 %: 25.00 points lost on 8 test samples, 3 answers changed" in said
    assert "10.2 kB -> 5.12 kB (2.0 times smaller)" in said
    assert "100 µs -> 300 µs (3.0 times slower), measured here" in said
    assert "-0.25 points" in said
    assert "in float: skipped by 'fc*'" in said
    assert "cat │ 50.00 % │ 25.00 %" in said
    assert "dog" not in said, "its accuracy is the same"
