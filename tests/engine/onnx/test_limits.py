"""The process that runs an untrusted ONNX file has limits on memory and processor time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import LimitError
from engine.core.models.limits import ModelLimits
from engine.onnx.checking import answers

onnx = pytest.importorskip("onnx", reason="needs the extra onnx")
pytest.importorskip("onnxruntime", reason="needs the extra onnx")

FEED = {"x": np.ones(1, np.float32)}


def written(folder: Path, nodes: list[object], initializers: list[object] = ()) -> Path:
    info = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in ("x", "y")]
    graph = onnx.helper.make_graph(nodes, "g", info[:1], info[1:], list(initializers))
    opsets = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), folder / "m.onnx")
    return folder / "m.onnx"


@pytest.mark.parametrize("size", [2, 60_000])
def test_a_model_that_fills_the_memory_is_ended(tmp_path: Path, size: int) -> None:
    shape = onnx.numpy_helper.from_array(np.array([size, size], np.int64), "shape")
    nodes = [
        onnx.helper.make_node("Expand", ["x", "shape"], ["wide"]),
        onnx.helper.make_node("ReduceSum", ["wide"], ["y"], keepdims=0),
    ]
    path = written(tmp_path, nodes, [shape])
    limits = ModelLimits(memory=1 << 20, seconds=30)
    if size == 2:
        found = answers(path, [FEED], limits)
        assert {float(results[0]["y"]) for results in found.results.values()} == {4.0}
        return
    with pytest.raises(LimitError, match="takes more than 516 MB, the limit of its process"):
        answers(path, [FEED], limits)


def test_a_model_that_loops_forever_is_ended(tmp_path: Path) -> None:
    constants = [
        onnx.numpy_helper.from_array(np.array(2**62, np.int64), "count"),
        onnx.numpy_helper.from_array(np.array(True), "go"),
    ]
    inner = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Identity", ["c"], ["c_out"]),
            onnx.helper.make_node("Add", ["v", "v"], ["v_out"]),
        ],
        "body",
        [
            onnx.helper.make_tensor_value_info("i", onnx.TensorProto.INT64, []),
            onnx.helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, []),
            onnx.helper.make_tensor_value_info("v", onnx.TensorProto.FLOAT, [1]),
        ],
        [
            onnx.helper.make_tensor_value_info("c_out", onnx.TensorProto.BOOL, []),
            onnx.helper.make_tensor_value_info("v_out", onnx.TensorProto.FLOAT, [1]),
        ],
    )
    path = written(
        tmp_path, [onnx.helper.make_node("Loop", ["count", "go", "x"], ["y"], body=inner)], constants
    )
    with pytest.raises(LimitError, match=r"took over 0\.5 s of processor time"):
        answers(path, [FEED], ModelLimits(seconds=0.5))
