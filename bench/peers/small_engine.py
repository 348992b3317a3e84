"""Worker: predictions of one saved model by the engine, ``python -m bench.peers.small_engine MODEL BATCH
FOLDER``.

Into FOLDER go ``model.onnx``, ``given.npy`` (the input) and, for the job ``save``, ``result.npy``. The jobs
``begin`` and ``time`` predict, the first one until compiled kernels are there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import engine as paddle
from bench.nets import ROWS, Job
from bench.peers.paddle_nets import network
from bench.peers.paddle_steps import wait_for_kernels
from bench.peers.protocol import serve, threads, timed
from engine.kernels.choice import wants_fast
from engine.static import InputSpec


def model_of(name: str, batch: int) -> tuple[Any, Any]:
    """A network in evaluation mode, and an input for it."""
    paddle.seed(1)
    if name in ("lenet", "lstm"):
        job = Job(name, batch, ROWS[name].job.sizes)
        made, given = network(paddle, job), job.data()[0]
    else:
        made = getattr(paddle.vision.models, name)()
        given = np.random.default_rng(1).standard_normal((batch, 3, 224, 224)).astype(np.float32)
    made.eval()
    return made, given


def main(name: str, batch: str, folder: str) -> None:
    """Serve jobs."""
    paddle.set_device("cpu")
    paddle.set_num_threads(threads())
    made, given = model_of(name, int(batch))
    path = Path(folder)
    np.save(path / "given.npy", given)
    spec = [InputSpec([int(batch), *given.shape[1:]], "float32", "x")]
    paddle.onnx.export(made, str(path / "model"), spec)
    paddle.jit.save(made, str(path / "saved"), spec)
    loaded = paddle.jit.load(str(path / "saved"))
    loaded.eval()
    x = paddle.to_tensor(given)

    def predict() -> Any:
        with paddle.no_grad():
            return loaded(x).numpy()

    def repeat(count: int, line: str) -> dict[str, Any]:
        if line == "save":
            np.save(path / "result.npy", predict())
            return {}
        if line == "begin":
            for _ in range(3):
                predict()
            if wants_fast():
                wait_for_kernels()
        return dict(timed(predict, count, first=0))

    serve(f"engine {paddle.__version__}", repeat)


if __name__ == "__main__":
    main(*sys.argv[1:])
