"""Checking a saved model in a clean process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ArgumentError, DataError, LimitError
from engine.inference import serve_verify
from engine.inference.serve_verify import VerifyServer
from engine.inference.verify_model import verify_model
from engine.inference.wire import Message


def saved(path: Path, shape: list[Any], **configs: Any) -> str:
    net = nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))
    net.eval()
    paddle.jit.save(net, str(path), [paddle.static.InputSpec(shape, "float32", "x")], **configs)
    return str(path)


def checked(prefix: str, **more: Any) -> tuple[dict[str, Any], list[Any]]:
    server = VerifyServer()
    server.answer(Message({"do": "load", "prefix": prefix, "memory": None, "seconds": None}, []))
    request = {"do": "verify", "samples": 4, "seed": 0, "batches": [1, 64], "results": False, **more}
    return server.answer(Message(request, []))


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve_verify, "LEAST_RUNS", 3)
    monkeypatch.setattr(serve_verify, "RUN_SECONDS", 0.0)


def test_a_model_is_compared_and_timed(tmp_path: Path) -> None:
    said, arrays = checked(saved(tmp_path / "m", [None, 1, 4, 4]), results=True)
    assert 0 < said["difference"] < 1e-5, "batch norm is part of the convolution"
    assert [each["batch"] for each in said["latencies"]] == [1, 64]
    assert all(0 < each["p50"] <= each["p95"] for each in said["latencies"])
    assert [array.shape for array in arrays] == [(4, 1, 4, 4), (4, 3)] * 2


def test_a_fixed_batch_is_timed_once(tmp_path: Path) -> None:
    said, _ = checked(saved(tmp_path / "m", [2, 1, 4, 4]))
    assert said["fixed_batch"]
    assert len(said["latencies"]) == 1


def test_a_batch_over_the_limits_is_not_timed(tmp_path: Path) -> None:
    prefix = saved(tmp_path / "m", [None, 1, 4, 4])
    kept = serve_verify._timed

    def timed(layer: Any, feed: Any) -> Any:
        if next(iter(feed.values())).shape[0] == 64:
            raise LimitError("more memory than a model of another installation may")
        return kept(layer, feed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serve_verify, "_timed", timed)
        one, many = checked(prefix)[0]["latencies"]
    assert one["p50"] > 0
    assert (many["batch"], many["p50"]) == (64, None)


def test_a_model_that_predicts_otherwise_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = saved(tmp_path / "m", [None, 1, 4, 4])
    kept = serve_verify.layer_of

    def changed(files: Any, passes: int) -> Any:
        layer = kept(files, passes)
        with paddle.no_grad():
            layer.parameters()[-1].set_value(layer.parameters()[-1] + 1.0)
        return layer

    monkeypatch.setattr(serve_verify, "layer_of", changed)
    assert checked(prefix)[0]["difference"] > 0.1


def test_bad_arguments_and_absent_models(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="samples 0"):
        verify_model(tmp_path / "m", samples=0)
    with pytest.raises(DataError, match=r"none\.pdmodel"):
        verify_model(tmp_path / "none")


def test_a_clean_process_checks_a_file_of_each_format(tmp_path: Path) -> None:
    steps: list[tuple[str, int, int]] = []
    path = saved(tmp_path / "m", [None, 1, 4, 4], format="packed")
    found = verify_model(path, samples=3, progress=lambda *step: steps.append(step))
    assert steps == [("Loading the model", 0, 2), ("Comparing and timing its results", 1, 2)]
    assert (found.format, found.own, found.samples, found.agrees) == ("packed", True, 3, True)
    assert found.seconds_to_load > 0
    pytest.importorskip("onnx", reason="needs the extra onnx")
    paddle.onnx.export(paddle.jit.load(str(tmp_path / "m")), str(tmp_path / "n"))
    foreign = verify_model(tmp_path / "n.onnx", samples=3)
    assert (foreign.format, foreign.own, foreign.agrees) == ("onnx", False, True)
    assert set(foreign.differences) >= {"prediction", "reference"}
