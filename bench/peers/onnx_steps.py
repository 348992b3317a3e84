"""Worker: predictions of LeNet by ONNX Runtime, ``python -m bench.peers.onnx_steps``.

The file is made here with ``onnx.helper`` from the same weights. The jobs are those of ``bench.contest``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from bench.nets import CLASSES, Job, Weights, cross_entropy
from bench.peers.answering import answer_jobs
from bench.peers.protocol import threads


def lenet() -> Any:
    """LeNet as an ONNX model; a Linear's weight is ``[in, out]``, as ``Gemm`` reads it."""
    weights, nodes, constants = Weights(), [], []
    last = "x"

    def add(kind: str, *values: np.ndarray[Any, Any], **attributes: Any) -> None:
        nonlocal last
        names = [f"w{len(constants) + n}" for n in range(len(values))]
        constants.extend(numpy_helper.from_array(v, n) for n, v in zip(names, values, strict=True))
        nodes.append(helper.make_node(kind, [last, *names], [f"v{len(nodes)}"], **attributes))
        last = f"v{len(nodes) - 1}"

    def convolution(made: int, taken: int, padding: int) -> None:
        bias = np.zeros(made, np.float32)
        add("Conv", weights.convolution((made, taken, 5, 5)), bias, pads=[padding] * 4)

    def pool() -> None:
        add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])

    def linear(taken: int, made: int) -> None:
        add("Gemm", weights.linear(taken, made), np.zeros(made, np.float32))

    convolution(6, 1, 2)
    add("Relu")
    pool()
    add("Relu")
    convolution(16, 6, 0)
    pool()
    add("Flatten")
    linear(400, 120)
    add("Relu")
    linear(120, 84)
    add("Relu")
    linear(84, CLASSES)
    taken = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1, 28, 28])
    given = helper.make_tensor_value_info(last, TensorProto.FLOAT, ["n", CLASSES])
    graph = helper.make_graph(nodes, "lenet", [taken], [given], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def predicting(job: Job) -> Callable[[], Any]:
    """A prediction of the saved and loaded network; gives logits ``[N, 10]``."""
    if job.net != "lenet":
        raise ValueError(f"onnx_steps: only lenet is written as ONNX: got {job.net!r}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "lenet.onnx")
        onnx.save(lenet(), path)
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    inputs, _ = job.data()
    return lambda: session.run(None, {"x": inputs})[0]


def main() -> None:
    """Serve jobs."""

    def make(kind: str, job: Job) -> tuple[Callable[[], Any], Callable[[Any], float]]:
        if kind != "predict":
            raise ValueError(f"onnx_steps: ONNX Runtime does not train: got {kind!r}")
        labels = job.data()[1]
        return predicting(job), lambda logits: cross_entropy(logits, labels)

    answer_jobs(f"onnxruntime {onnxruntime.__version__}", make)


if __name__ == "__main__":
    main()
