"""Records the thresholds that Paddle finds: run with an interpreter that has paddlepaddle==2.6.2 and numpy<2.

    python tests/engine/quantization/calibration/paddle/record.py

Trains the small LeNet, rounds its weights to float16 so that they are short to write, calibrates it by
``PostTrainingQuantization`` with every algorithm, and writes weights and thresholds to ``recorded.json``.
"""

from __future__ import annotations

import base64
import gzip  # noqa: F401 - importing it after paddle crashes paddle 2.6.2
import json
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import paddle
from paddle.static.quantization import PostTrainingQuantization

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

from small_lenet import BATCH, SAMPLES, build, random_images  # noqa: E402

ALGORITHMS = ("abs_max", "avg", "hist", "KL", "mse", "emd", "min_max", "ptf")
LAYERS = ("conv2d", "matmul_v2")  # of the static graph, in order: two convolutions, three linear layers
BITS = (8, 4)


def trained() -> Any:
    paddle.seed(1)
    net = build(paddle.nn)
    optimizer = paddle.optimizer.Adam(0.003, parameters=net.parameters())
    images, labels = random_images(4096, seed=1)
    for step in range(300):
        at = slice(step * 64 % 4096, step * 64 % 4096 + 64)
        loss = paddle.nn.functional.cross_entropy(
            net(paddle.to_tensor(images[at])), paddle.to_tensor(labels[at])
        )
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    for parameter in net.parameters():
        parameter.set_value(parameter.numpy().astype(np.float16).astype(np.float32))
    images, labels = random_images(1000, seed=3)
    right = (net(paddle.to_tensor(images)).numpy().argmax(1) == labels).mean()
    print(f"trained: loss {float(loss):.4f}, {right:.1%} of other images right")
    net.eval()
    return net


class Data(paddle.io.Dataset):
    """The calibration data."""

    def __init__(self) -> None:
        self.images, _ = random_images(SAMPLES, seed=2)

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> Any:
        return self.images[index]


def quantized(folder: str, algo: str, bits: int) -> PostTrainingQuantization:
    scope = paddle.static.Scope()
    executor = paddle.static.Executor(paddle.CPUPlace())
    with paddle.static.scope_guard(scope):
        program, feeds, _ = paddle.static.load_inference_model(folder + "/model", executor)
        feed = program.global_block().var(feeds[0])
        loader = paddle.io.DataLoader(
            Data(), feed_list=[feed], batch_size=BATCH, return_list=False, places=[paddle.CPUPlace()]
        )
        tool = PostTrainingQuantization(
            executor,
            folder,
            scope=scope,
            model_filename="model.pdmodel",
            params_filename="model.pdiparams",
            data_loader=loader,
            batch_size=BATCH,
            batch_nums=SAMPLES // BATCH,
            algo=algo,
            onnx_format=True,
            weight_bits=bits,
            activation_bits=bits,
            quantizable_op_type=list(LAYERS),
        )
        tool.layers = [  # type: ignore[attr-defined]
            (
                op.input("Input" if op.type == "conv2d" else "X")[0],
                op.input("Filter" if op.type == "conv2d" else "Y")[0],
            )
            for op in program.global_block().ops
            if op.type in LAYERS
        ]
        tool.quantize()
    return tool


def thresholds(tool: PostTrainingQuantization, algo: str) -> list[Any]:
    """Of each layer's input; min and max for min_max."""
    if algo == "min_max":
        return [[tool._quantized_var_min[name], tool._quantized_var_max[name]] for name, _ in tool.layers]
    known = tool._quantized_var_threshold if algo in ("KL", "hist") else tool._quantized_threshold
    return [float(np.float32(known[name])) for name, _ in tool.layers]


def main() -> None:
    logging.disable(logging.WARNING)
    net = trained()
    recorded: dict[str, Any] = {"paddle": paddle.__version__, "numpy": np.__version__}
    recorded["weights"] = {
        name: base64.b64encode(value.numpy().astype("<f2").tobytes()).decode()
        for name, value in net.state_dict().items()
    }
    with tempfile.TemporaryDirectory() as folder:
        paddle.jit.save(net, folder + "/model", [paddle.static.InputSpec([None, 1, 20, 20], "float32", "x")])
        paddle.enable_static()
        recorded["inputs"] = {}
        for bits in BITS:
            of_bits = recorded["inputs"][str(bits)] = {}
            for algo in ALGORITHMS:
                tool = quantized(folder, algo, bits)
                of_bits[algo] = thresholds(tool, algo)
        recorded["channels"] = [tool._quantized_threshold[weight] for _, weight in tool.layers]
    lines = (f" {json.dumps(key)}: {json.dumps(value)}" for key, value in recorded.items())
    (HERE / "recorded.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
