"""The clean process of a check: runs an ONNX file by each runtime that is installed.

``python -m engine.onnx.run_files MODEL ASKED.npz ANSWERED``: inputs are ``NUMBER/NAME`` in the archive, the
results of each runtime go to ``ANSWERED-RUNTIME.npz`` under the same names.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Run = Callable[[dict[str, np.ndarray]], list[np.ndarray]]
REPEATS = 30
_DEQUANTIZES = 19  # the first opset of which the reference evaluator has DequantizeLinear


def _onnxruntime(path: str) -> tuple[list[str], Run]:
    """ONNX Runtime with its default optimizations."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    wanted = {each.name for each in session.get_inputs()}
    return names, lambda feed: session.run(None, {k: v for k, v in feed.items() if k in wanted})


def _reference(path: str) -> tuple[list[str], Run]:
    """The evaluator of the package onnx, which computes with NumPy.

    Raises ImportError for models that it does not compute: it ignores the lengths of sequences.
    """
    import onnx
    from onnx.reference import ReferenceEvaluator

    model = onnx.load(path)
    kinds = {"GRU", "LSTM", "RNN"}
    if any(node.op_type in kinds and node.input[4:5] not in ([], [""]) for node in model.graph.node):
        raise ImportError("the reference evaluator ignores the lengths of sequences")
    if model.opset_import[0].version < _DEQUANTIZES and any(
        node.op_type == "DequantizeLinear" for node in model.graph.node
    ):
        from onnx.version_converter import convert_version

        model = convert_version(model, _DEQUANTIZES)
    evaluator = ReferenceEvaluator(model)
    names, wanted = list(evaluator.output_names), set(evaluator.input_names)
    return names, lambda feed: evaluator.run(None, {k: v for k, v in feed.items() if k in wanted})


RUNTIMES = {"onnxruntime": _onnxruntime, "reference": _reference}


def main(path: str, asked: str, answered: str) -> int:
    """Run the model and print the median seconds of a run by runtime; 1 and one line on failure."""
    with np.load(asked, allow_pickle=False) as archive:
        feeds: dict[str, dict[str, np.ndarray]] = {}
        for key in archive.files:
            number, _, name = key.partition("/")
            feeds.setdefault(number, {})[name] = archive[key]
    latencies = {}
    for name, load in RUNTIMES.items():
        try:
            outputs, run = load(path)
        except ImportError:
            continue
        try:
            results: dict[str, Any] = {}
            for number, feed in feeds.items():
                found = run(feed)
                results.update({f"{number}/{n}": v for n, v in zip(outputs, found, strict=True)})
            np.savez(f"{answered}-{name}.npz", **results)
            first = next(iter(feeds.values()))
            times = []
            for _ in range(REPEATS if name == "onnxruntime" else 1):
                begin = time.perf_counter()
                run(first)
                times.append(time.perf_counter() - begin)
            latencies[name] = float(np.median(times))
        except Exception as error:  # runtimes raise errors of their own kinds
            print(f"{name}: {type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
            return 1
    print(json.dumps(latencies))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
