"""Run the models of a folder with the real Paddle: ``python run_in_paddle.py jit.load|inference FOLDER``.

Prints for each ``NAME.npz``, which holds inputs and outputs, the name and the largest difference as a share
of the largest output.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import paddle
from paddle.inference import Config, create_predictor


def _loaded(prefix: str, inputs: list[np.ndarray]) -> list[np.ndarray]:
    net = paddle.jit.load(prefix)
    net.eval()
    found = net(*map(paddle.to_tensor, inputs))
    return [v.numpy() for v in (found if isinstance(found, (tuple, list)) else [found])]


def _predicted(prefix: str, inputs: list[np.ndarray]) -> list[np.ndarray]:
    weights = Path(f"{prefix}.pdiparams")
    config = Config(f"{prefix}.pdmodel", str(weights) if weights.exists() else "")
    config.disable_glog_info()
    predictor = create_predictor(config)
    for name, value in zip(predictor.get_input_names(), inputs, strict=True):
        predictor.get_input_handle(name).copy_from_cpu(value)
    predictor.run()
    return [predictor.get_output_handle(n).copy_to_cpu() for n in predictor.get_output_names()]


def main(reader: str, folder: str) -> None:
    run = {"jit.load": _loaded, "inference": _predicted}[reader]
    for path in sorted(Path(folder).glob("*.npz")):
        data = np.load(path)
        inputs = [data[n] for n in sorted(data.files) if n.startswith("i")]
        outputs = [data[n] for n in sorted(data.files) if n.startswith("o")]
        apart = 0.0
        for found, wanted in zip(run(str(path.with_suffix("")), inputs), outputs, strict=True):
            same = found.shape == wanted.shape and found.dtype == wanted.dtype
            largest = max(float(np.abs(wanted).max(initial=0)), 1e-20)
            apart = max(apart, float(np.abs(found - wanted).max(initial=0)) / largest if same else np.inf)
        print(f"{path.stem}\t{apart}", flush=True)


main(*sys.argv[1:])
