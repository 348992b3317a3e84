"""Worker: predictions of ``model.onnx`` in a folder by ONNX Runtime, ``python -m bench.peers.small_onnx
FOLDER``; the jobs are those of ``bench.peers.small_engine``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from bench.peers.protocol import serve, threads, timed


def main(folder: str) -> None:
    """Serve jobs."""
    path = Path(folder)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads()
    session = onnxruntime.InferenceSession(
        str(path / "model.onnx"), options, providers=["CPUExecutionProvider"]
    )
    given = {session.get_inputs()[0].name: np.load(path / "given.npy")}

    def predict() -> Any:
        return session.run(None, given)[0]

    def repeat(count: int, line: str) -> dict[str, Any]:
        if line == "save":
            np.save(path / "result.npy", predict())
            return {}
        return dict(timed(predict, count, first=0))

    serve(f"onnxruntime {onnxruntime.__version__}", repeat)


if __name__ == "__main__":
    main(*sys.argv[1:])
