"""A run and a saved model are quantized: what is written, what its report says, what is refused."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import jit, nn
from engine.core.errors import ArgumentError, EngineError, FormatError
from engine.files.inference import describe_inference, inference_paths, read_inference
from engine.jit.input_spec import InputSpec
from engine.jit.saved.change_format import change_format
from engine.jit.saved.model_files import read_model_files
from engine.quantization.options import QuantizeOptions
from engine.quantization.report import QuantizationReport, Sizes, stored_report
from engine.training.quantize import run as quantize_run
from engine.training.quantize.choices import Choices
from engine.training.quantize.run import quantize_saved
from tests.engine.training.quantize.banded_run import make_data, make_run
from tests.robust import untrusted_models


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data") / "bands.npz")


@pytest.fixture(scope="module")
def run(data: Path) -> Path:
    return make_run(data)


@pytest.fixture(scope="module")
def quantized(run: Path) -> tuple[str, QuantizationReport, list[Any]]:
    reported: list[Any] = []
    prefix = str(run.parent / "out" / "small")
    event = quantize_run.quantize_run(run, prefix, Choices(QuantizeOptions(samples=64)), reported.append)
    assert event["prefix"] == prefix
    return prefix, QuantizationReport.from_plain(event["report"]), reported


def test_the_report_says_what_the_files_are(quantized: tuple[str, QuantizationReport, list[Any]]) -> None:
    prefix, report, _ = quantized
    files = read_inference(prefix)
    assert stored_report(files.info["info"], prefix) == report
    sizes = {suffix: path.stat().st_size for suffix, path in inference_paths(prefix).items()}
    assert report.sizes.quantized == sizes
    assert (report.method, report.algo, report.samples) == ("post_training", "hist", 64)
    assert [(each.name, each.op, each.quantized) for each in report.layers] == [
        ("conv", "conv2d", True),
        ("fc1", "matmul_v2", True),
        ("fc2", "matmul_v2", True),
    ]
    for layer in report.layers:
        assert files.weights[layer.weight].dtype == np.int8
        assert layer.drop is not None
        assert 0 < (layer.noise_to_signal or 0) < 1e-2
    assert report.latency.float > 0
    assert report.latency.quantized > 0


def test_the_report_says_how_the_files_answer(
    quantized: tuple[str, QuantizationReport, list[Any]], data: Path
) -> None:
    prefix, report, _ = quantized
    archive = np.load(data)
    images = archive["x_test"].transpose(0, 3, 1, 2).astype(np.float32) / 255
    layer = jit.load(prefix)
    layer.eval()
    answers = layer(engine.to_tensor(images)).numpy().argmax(axis=1)
    assert report.accuracy is not None
    assert report.accuracy.samples == 90
    assert report.accuracy.quantized == pytest.approx((answers == archive["y_test"]).mean())
    assert report.accuracy.float > 0.6
    assert report.per_class is not None
    assert len(report.per_class.classes) == 3
    assert report.changed_count == len(report.changed)


def test_progress_is_reported_from_reading_to_verifying(
    quantized: tuple[str, QuantizationReport, list[Any]],
) -> None:
    reported = quantized[2]
    assert list(dict.fromkeys(each["stage"] for each in reported)) == [
        "read",
        "calibrate",
        "layers",
        "save",
        "verify",
    ]
    layers = [(each["done"], each["total"]) for each in reported if each["stage"] == "layers"]
    assert layers == [(0, 3), (1, 3), (2, 3)]


@pytest.fixture(scope="module")
def saved(data: Path) -> str:
    """Files of a network that adds up the rows of each class. Layer 1 passes pixels on; one weight in it is
    100 times the others, which with 2 bits become 0; layer 3 needs no more than 2 bits."""
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
    pixels, bias, rows = np.eye(64, dtype=np.float32), np.zeros(64, np.float32), np.zeros((64, 3), np.float32)
    pixels[63, 63], bias[63] = 100, -1000
    for label in range(3):
        rows[16 * label : 16 * label + 8, label] = 1
    for tensor, value in zip(net.parameters(), (pixels, bias, rows, np.zeros(3, np.float32)), strict=True):
        tensor.set_value(value)
    net.eval()
    jit.save(net, str(data.parent / "float"), input_spec=[InputSpec([None, 1, 8, 8], "float32", "x")])
    return str(data.parent / "float")


def test_a_saved_model_is_quantized_within_a_target(saved: str, data: Path, tmp_path: Path) -> None:
    options = QuantizeOptions(samples=30, weight_bits=2, weight_type="abs_max")
    target = Choices(options, data=str(data), target_drop=1, sensitivity=False)
    report = QuantizationReport.from_plain(quantize_saved(saved, str(tmp_path / "m"), target)["report"])
    drops = [each.drop or 0.0 for each in report.layers]
    assert drops[0] > 40 > 1 > abs(drops[1])
    assert [(each.name, each.quantized) for each in report.layers] == [("1", False), ("3", True)]
    assert [each.layer for each in report.skipped] == ["1"]
    assert report.skipped[0].why == f"alone it costs {drops[0]:.2f} points; in float for the target of 1"
    assert report.accuracy is not None
    assert report.accuracy.drop <= 1
    assert jit.load(str(tmp_path / "m")) is not None


def test_weights_alone_need_no_data_and_an_untrusted_model_stays_one(saved: str, tmp_path: Path) -> None:
    for path in inference_paths(saved).values():
        shutil.copy(path, tmp_path / path.name)
    strange = untrusted_models.unsign(tmp_path / Path(saved).name)
    event = quantize_saved(str(strange), str(tmp_path / "w"), Choices(weights_only=True))
    report = QuantizationReport.from_plain(event["report"])
    assert (report.method, report.samples, report.accuracy) == ("weights_only", 0, None)
    assert [each.threshold for each in report.layers] == [None, None]
    assert report.difference == 0.0, "each weight is 0 or the largest of its channel"
    assert describe_inference(event["prefix"]).program["foreign"] is True, "its limits hold here too"


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        (
            {"options": QuantizeOptions(samples=301)},
            "fewer samples than asked for: .* has 300, asked for 301",
        ),
        ({"options": QuantizeOptions(skip=("nothing*",))}, "skip 'nothing\\*' fits no layer"),
        ({"options": QuantizeOptions(skip=("1", "3"))}, "no layer can be quantized"),
        ({"data": ""}, "got no --data"),
        ({"data": "none.npy"}, "no such data"),
        ({"data": "bare.npy", "target_drop": 0.5}, "bare.npy has none; give data with labels"),
        ({"data": "bare.npy"}, r"shape \[32, 2, 8, 8\]: the model takes"),
        ({"data": "nan.npy"}, "sample 7 holds NaN or infinity"),
        ({"out": "float"}, "is the model in float itself"),
    ],
)
def test_invalid_choices_raise_one_line_and_write_nothing(
    saved: str,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    choices: dict[str, Any],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("bare.npy", np.zeros((40, 2, 8, 8), np.float32))
    values = np.zeros((40, 1, 8, 8), np.float32)
    values[7, 0, 3, 3] = np.nan
    np.save("nan.npy", values)
    before = sorted(os.listdir())
    out = str(Path(saved).parent / "float") if choices.pop("out", "") else "folder/model"
    with pytest.raises(EngineError, match=says) as caught:
        quantize_saved(saved, out, Choices(**{"data": str(data), **choices}))
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("folder/*"))
    assert [name for name in sorted(os.listdir()) if name != "folder"] == before


def test_a_quantized_model_is_not_quantized_again(
    quantized: tuple[str, QuantizationReport, list[Any]], data: Path, tmp_path: Path
) -> None:
    with pytest.raises(ArgumentError, match="quantized already"):
        quantize_saved(quantized[0], str(tmp_path / "again"), Choices(data=str(data)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("stage", ["calibrate", "verify"])
def test_an_interruption_leaves_what_was_there(saved: str, data: Path, tmp_path: Path, stage: str) -> None:
    jit.save(nn.Linear(2, 2), str(tmp_path / "m"), input_spec=[InputSpec([None, 2])])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def stop(event: Any) -> None:
        if event["stage"] == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quantize_saved(saved, str(tmp_path / "m"), Choices(data=str(data)), stop)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_files_that_do_not_load_are_not_put_in_place(
    saved: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quantize_run, "VERIFY_SECONDS", 0.0)
    with pytest.raises(FormatError, match=r"quantize .*m: nothing was exported: loading"):
        quantize_saved(saved, str(tmp_path / "m"), Choices(data=str(data)))
    assert not list(tmp_path.iterdir())


def test_one_packed_file_is_quantized_into_another(saved: str, tmp_path: Path) -> None:
    source, target = tmp_path / "float.h5", tmp_path / "small.h5"
    change_format(saved, source, "packed")
    event = quantize_saved(str(source), str(target), Choices(weights_only=True))
    assert (event["prefix"], sorted(path.name for path in tmp_path.iterdir())) == (
        str(target),
        ["float.h5", "small.h5"],
    )
    report = QuantizationReport.from_plain(event["report"])
    assert report.sizes == Sizes({"h5": source.stat().st_size}, {"h5": target.stat().st_size})
    assert stored_report(read_model_files(target).info["info"], str(target)) == report
    with pytest.raises(ArgumentError, match="is the model in float itself"):
        quantize_saved(str(source), str(source), Choices(weights_only=True))
