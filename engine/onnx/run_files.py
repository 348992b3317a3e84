"""The clean process of a check: runs an ONNX file by each runtime that is installed.

``python -m engine.onnx.run_files MODEL ASKED.npz ANSWERED EVERY [MEMORY SECONDS]``: inputs are
``NUMBER/NAME`` in the archive, the results of each runtime go to ``ANSWERED-RUNTIME.npz`` under the same
names. Inputs from the number EVERY on, unless that is 0, are for the first runtime alone. For an untrusted
model each runtime may take MEMORY bytes more than its imports and compute for SECONDS, with one thread.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from engine.files.untrusted.limits import allow_processor_time, limit_memory

Run = Callable[[dict[str, np.ndarray]], list[np.ndarray]]
REPEATS = 30
_limited = False
# Processors with AVX2 and no VNNI add 8-bit products in 16 bits, which overflow: add in 32 bits, or floats.
PRECISE, IN_FLOATS = "session.x64quantprecision", "session.disable_quant_qdq"
_DEQUANTIZES = 19  # the first opset of which the reference evaluator has DequantizeLinear


def _onnxruntime(path: str) -> tuple[list[str], Run]:
    """ONNX Runtime with its default optimizations."""
    import onnxruntime

    def begun(precise: str) -> Any:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.add_session_config_entry(precise, "1")
        if _limited:  # each thread reserves memory that it does not use
            options.intra_op_num_threads = options.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    try:
        session = begun(PRECISE)
    except Exception:  # it can refuse: "Attempt to replace the existing tensor"
        session = begun(IN_FLOATS)
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

    def run(feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        results = evaluator.run(None, {k: v for k, v in feed.items() if k in wanted})
        assert isinstance(results, list)  # a dict only with intermediate=True
        return results

    return names, run


RUNTIMES = {"onnxruntime": _onnxruntime, "reference": _reference}


def _limit(memory: int, seconds: float) -> None:
    """Limit this process, once the runtimes are imported; their imports map libraries of any size."""
    global _limited
    for name in ("onnx", "onnx.reference", "onnxruntime"):
        with suppress(ImportError):
            importlib.import_module(name)
    _limited = True
    limit_memory(memory)
    allow_processor_time(seconds * len(RUNTIMES))


def main(path: str, asked: str, answered: str, every: str = "0", memory: str = "", seconds: str = "") -> int:
    """Run the model and print the median seconds of a run by runtime, and of loading it; 1 and one line on
    failure."""
    if memory:
        _limit(int(memory), float(seconds))
    with np.load(asked, allow_pickle=False) as archive:
        feeds: dict[str, dict[str, np.ndarray]] = {}
        for key in archive.files:
            number, _, name = key.partition("/")
            feeds.setdefault(number, {})[name] = archive[key]
    latencies: dict[str, float] = {}
    loading: dict[str, float] = {}
    for name, load in RUNTIMES.items():
        begin = time.perf_counter()
        try:
            outputs, run = load(path)
        except ImportError:
            continue
        except Exception as error:
            return _failed(name, error)
        loading[name] = time.perf_counter() - begin
        try:
            results: dict[str, Any] = {}
            for number, feed in feeds.items():
                if latencies and 0 < int(every) <= int(number):
                    continue
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
            return _failed(name, error)
    print(json.dumps({"latencies": latencies, "loading": loading}))
    return 0


def _failed(name: str, error: Exception) -> int:
    print(f"{name}: {type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
