"""Saved models: float and integers, passes, and models of other installations in a child with limits."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.comparison.guarded.guarded_comparison import compare_saved
from engine.comparison.request import ON_DEVICES, Request, Subject
from engine.comparison.saved_models import SavedRequest
from engine.core.errors import ArgumentError, DeviceError, LimitError
from engine.core.models.limits import ModelLimits
from engine.quantization.quantize_model import quantize_files
from engine.vision.models import LeNet
from tests.robust.untrusted_models import Endless, unsign

SPEC = [paddle.static.InputSpec([None, 1, 28, 28], "float32", "x")]


def saved(path: Path, layer: nn.Layer) -> str:
    layer.eval()
    paddle.jit.save(layer, str(path), SPEC, info={"scaling": {"low": 0.0, "high": 1.0}})
    return str(path)


@pytest.fixture(scope="module")
def lenet(tmp_path_factory: pytest.TempPathFactory) -> str:
    paddle.seed(0)
    return saved(tmp_path_factory.mktemp("lenet") / "float", LeNet())


@pytest.fixture(scope="module")
def small(lenet: str) -> str:
    images = np.random.default_rng(0).random((4, 8, 1, 28, 28), np.float32)
    quantize_files(lenet, lenet.replace("float", "small"), list(images))
    return lenet.replace("float", "small")


def test_float_and_integers_differ_by_precision_in_each_layer(lenet: str, small: str) -> None:
    found = compare_saved(SavedRequest(lenet, small))
    assert found.cause is not None
    assert (found.cause.kind, found.cause.text) == ("precision", "B computes with quantized values")
    assert found.first_unmatched is not None
    assert "quantize_linear" in found.unmatched[found.first_unmatched].type
    assert {each.side for each in found.unmatched} == {"B"}
    rows = {row.layer: row for row in found.rows if row.type in ("conv2d", "matmul_v2")}
    assert len(rows) == 5
    for row in rows.values():
        assert row.relative is not None
        assert 1e-4 < row.relative < 0.1, row
    assert compare_saved(SavedRequest(lenet, small, tolerance=0.1)).equal


def test_passes_for_prediction_agree(lenet: str, small: str) -> None:
    for path in (lenet, small):
        found = compare_saved(SavedRequest(path))
        assert found.equal, found.verdict
        assert (found.a, found.b) == ("passes off", "passes on")


def test_a_batch_comes_from_data(lenet: str, tmp_path: Path) -> None:
    np.save(tmp_path / "some.npy", np.random.default_rng(0).random((12, 1, 28, 28), np.float32))
    data = str(tmp_path / "some.npy")
    found = compare_saved(SavedRequest(lenet, lenet, batch=2, data=data))
    assert found.bitwise
    assert found.rows[0].shape[0] == 4, "the second batch of 8"
    with pytest.raises(ArgumentError, match=r"batch 3 is behind the end of .*some\.npy, which has 12"):
        compare_saved(SavedRequest(lenet, lenet, batch=3, data=data))


def test_a_device_that_can_not_be_used_is_refused_with_the_reason(
    lenet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "engine.kernels.cupy", None)
    with pytest.raises(DeviceError, match=r"compare: device gpu: needs CuPy, .*pip install"):
        Request(Subject(lenet), pair=ON_DEVICES).carry_out()


def test_a_model_of_another_installation_is_compared_in_a_child(tmp_path: Path) -> None:
    paddle.seed(0)
    own, foreign = saved(tmp_path / "own", LeNet()), saved(tmp_path / "foreign", LeNet())
    unsign(foreign)
    found = compare_saved(SavedRequest(own, foreign))
    assert found.cause is not None
    assert found.cause.kind == "weights"
    assert found.rows[0].type == "conv2d"
    assert found.rows[0].shape == (8, 6, 28, 28)
    assert found.notes[-1] == "Computed in a process with limits: another installation wrote a model"


def test_the_child_finds_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paddle.seed(0)
    unsign(saved(tmp_path / "foreign", LeNet()))
    np.save(tmp_path / "some.npy", np.random.default_rng(0).random((4, 1, 28, 28), np.float32))
    monkeypatch.chdir(tmp_path)
    found = compare_saved(SavedRequest("foreign", "foreign", data="some.npy"))
    assert found.bitwise
    assert (found.a, found.b) == ("foreign", "foreign")
    assert found.rows[0].shape[0] == 4


def test_a_model_without_an_end_meets_its_limit(tmp_path: Path) -> None:
    endless = saved(tmp_path / "endless", Endless())
    unsign(endless)
    with pytest.raises(LimitError):
        compare_saved(SavedRequest(endless), ModelLimits(seconds=1.0))
