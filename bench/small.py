"""Predictions of few images at real sizes: models saved and loaded by the engine next to ONNX Runtime.

``python -m bench.small --peer PYTHON [--rows mobilenet_v2,...] [--batches 1,4] [--rounds N] [--seconds S]
[--threads N] [--json FILE]``. ``PYTHON`` has onnxruntime, whose file the engine writes. Each has a process of
its own, pinned to as many cores as it has threads; they run in alternation, and ratios within a round count.
The models are loaded by ``jit.load`` as they were saved, in ``eval()`` under ``no_grad``. The largest
difference of the results is printed, by the largest result.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from bench.arguments import duration, listed, positive
from bench.peers.protocol import Worker, cores
from bench.results import conditions, describe
from bench.timing import Series, paired_ratio, table, take_turns

ROWS = ("lenet", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small", "resnet18", "lstm")
WARM_UP = 30  # calls, in the first of which the engine takes NumPy's kernels


def main(arguments: list[str] | None = None) -> None:
    """Measure and print a table."""
    made = argparse.ArgumentParser(
        "bench.small", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--peer", metavar="PYTHON", required=True, help="interpreter that has onnxruntime")
    made.add_argument("--rows", type=listed(ROWS), default=list(ROWS), help=", ".join(ROWS))
    made.add_argument("--batches", default="1,4", help="numbers of images")
    made.add_argument("--rounds", type=positive, default=7)
    made.add_argument("--seconds", type=duration, default=2.0, help="of each contender in each row")
    made.add_argument("--threads", type=positive, default=2)
    made.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = made.parse_args(arguments)
    print(describe(conditions(options.threads, options.rounds, options.seconds)), flush=True)
    rows = [["model, batch", "engine ms", "onnxruntime ms", "ratio", "worst", "difference"]]
    figures = {}
    for name in options.rows:
        for batch in map(int, options.batches.split(",")):
            found = _row(name, batch, options)
            rows.append(
                [
                    f"{name}, {batch}",
                    f"{1e3 * found['engine']:.3f}",
                    f"{1e3 * found['onnxruntime']:.3f}",
                    f"{found['ratio']:.2f}",
                    f"{found['worst']:.2f}",
                    f"{found['difference']:.1e}",
                ]
            )
            print("  ".join(rows[-1]), flush=True)
            figures[f"{name}, {batch}"] = found
    print(table(rows))
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _row(name: str, batch: int, options: Any) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        here = {"threads": options.threads, "cores": cores(options.threads)}
        engine = Worker(
            sys.executable, "bench.peers.small_engine", (name, str(batch), folder), limit=False, **here
        )
        peer = None
        try:
            engine.repeat(WARM_UP, "begin")
            peer = Worker(options.peer, "bench.peers.small_onnx", (folder,), **here)
            peer.repeat(WARM_UP, "time")
            workers = {"engine": engine, "onnxruntime": peer}
            series = take_turns(
                {key: _turn(worker, options.seconds / options.rounds) for key, worker in workers.items()},
                options.rounds,
            )
            results = []
            for worker in workers.values():
                worker.repeat(1, "save")
                results.append(np.load(Path(folder) / "result.npy"))
        finally:
            engine.close()
            if peer is not None:
                peer.close()
    own, other = results
    return {
        "engine": median(series[0].seconds),
        "onnxruntime": median(series[1].seconds),
        "ratio": paired_ratio(series[0], series[1]),
        "worst": max(_ratios(series[0], series[1])),
        "difference": float(np.abs(own - other).max() / np.abs(other).max()),
    }


def _ratios(of: Series, to: Series) -> list[float]:
    return [a / b for a, b in zip(of.seconds, to.seconds, strict=True)]


def _turn(worker: Worker, seconds: float) -> Callable[[], float]:
    one = float(worker.repeat(3, "time")["seconds"]) / 3
    count = max(1, round(seconds / one))
    return lambda: float(worker.repeat(count, "time")["seconds"]) / count


if __name__ == "__main__":
    main()
