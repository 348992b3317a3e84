"""The report of a quantization: plain values and back, through files; invalid files."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

from engine.core.errors import FormatError
from engine.files.inference import describe_inference, write_inference
from engine.quantization.report import (
    KEY,
    Accuracy,
    Changed,
    ClassAccuracy,
    Latency,
    LayerReport,
    QuantizationReport,
    Sizes,
    Skipped,
    stored_report,
)


def report() -> QuantizationReport:
    return QuantizationReport(
        method="post_training",
        algo="hist",
        weight_bits=8,
        activation_bits=8,
        weight_type="channel_wise_abs_max",
        samples=320,
        seconds=0.5,
        skipped=(Skipped("fc3", "asked for"),),
        layers=(
            LayerReport("conv1", "conv2d", "conv1.weight", True, 1.5, 1e-4, 2e-5, 0.25),
            LayerReport("fc3", "matmul_v2", "fc3.weight", False),
        ),
        accuracy=Accuracy(0.97, 0.965, 1000),
        per_class=ClassAccuracy(("cat", "dog"), (0.5, None), (0.25, None)),
        confusion_difference=((-1, 1), (0, 0)),
        changed=(Changed(7, 0, 0, 1),),
        changed_count=1,
        sizes=Sizes({"pdmodel": 10, "pdiparams": 400}, {"pdmodel": 12, "pdiparams": 100}),
        latency=Latency(0.001, 0.0015),
        difference=0.125,
    )


def test_a_report_is_the_same_after_plain_values_and_after_json() -> None:
    plain = report().to_plain()
    assert QuantizationReport.from_plain(plain) == report()
    assert QuantizationReport.from_plain(json.loads(json.dumps(plain))) == report()
    assert plain["accuracy"] == {"float": 0.97, "quantized": 0.965, "samples": 1000}
    assert plain["version"] == 1
    assert report().accuracy.drop == pytest.approx(0.5)  # type: ignore[union-attr]


def test_a_report_is_the_same_after_inference_files(tmp_path: Any) -> None:
    write_inference(tmp_path / "model", {}, {"w": np.zeros(1, np.float32)}, {KEY: report().to_plain()})
    assert stored_report(describe_inference(tmp_path / "model").info, "model") == report()


def test_files_of_a_float_model_hold_none() -> None:
    assert stored_report({"model": "lenet"}, "model") is None
    assert stored_report([], "model") is None


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        (["version"], 2, "version"),
        (["method"], "magic", "method"),
        (["seconds"], float("nan"), "seconds"),
        (["weight_bits"], 1, "weight_bits"),
        (["weight_bits"], "8", "weight_bits"),
        (["accuracy", "float"], 1.5, "accuracy.float"),
        (["layers", 0, "threshold"], float("inf"), "layers.0.threshold"),
        (["layers", 0, "name"], "x" * 1001, "layers.0.name"),
        (["changed"], [{"index": 1, "label": 1, "float": 1, "quantized": 2}] * 201, "changed"),
        (["changed_count"], 0, "less than"),
        (["confusion_difference"], [[0, 0, 0], [0, 0, 0], [0, 0, 0]], "one row for each class"),
        (["confusion_difference"], [[0], [0]], "as many columns"),
        (["per_class", "float"], [0.5], "one number for each class"),
        (["sizes", "float"], {"pdmodel": -1}, "sizes.float"),
        (["more"], 1, "more"),
    ],
)
def test_an_untrusted_report_is_checked(place: list[Any], value: Any, says: str) -> None:
    plain = copy.deepcopy(report().to_plain())
    inner: Any = plain
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    with pytest.raises(FormatError, match=f"^here: not a report of a quantization: .*{says}") as caught:
        QuantizationReport.from_plain(plain, "here")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("plain", [None, [], {}, "report", {"version": 1}])
def test_invalid_reports_are_refused(plain: Any) -> None:
    with pytest.raises(FormatError, match="not a report"):
        stored_report({KEY: plain}, "here")
