"""Checks a saved model of any format in a clean process: does it load, agree with itself, and how fast is it?

A model from elsewhere runs within limits, as everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, FormatError
from engine.core.models.limits import ModelLimits
from engine.files.plain import StrPath
from engine.inference.process import MEMORY_FACTOR, MOST_OF_OWN, MOST_SAID, ModelProcess
from engine.inference.wire import Most
from engine.jit.saved.compare_outputs import difference
from engine.jit.saved.model_files import ONNX, model_place

BATCHES = (1, 64)
TOLERANCE = 1e-4  # of the largest result


@dataclass(frozen=True)
class Verified:
    """What a check found.

    ``differences`` are the largest ones as a share of the largest result: of the model as it predicts from
    the model as it was saved (``prediction``), and of other runtimes from the engine. ``latencies`` are
    seconds of a run: ``p50`` and ``p95`` by ``batch``, None where that batch is over the limits.
    ``fixed_batch`` says that the model takes one batch size alone.
    """

    path: str
    format: str
    own: bool
    samples: int
    seed: int
    differences: dict[str, float]
    latencies: list[dict[str, Any]]
    fixed_batch: bool
    seconds_to_load: float
    tolerance: float

    @property
    def agrees(self) -> bool:
        """Whether no difference is over the tolerance."""
        return all(each <= self.tolerance for each in self.differences.values())

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "agrees": self.agrees}


class VerifyProcess(ModelProcess):
    """The process that checks one model."""

    _server = "engine.inference.serve_verify"

    def verify(
        self, samples: int, seed: int, results: bool
    ) -> tuple[dict[str, Any], list[np.ndarray[Any, Any]], float]:
        """What the child measured, with inputs and outputs if ``results``, and the seconds to load."""
        with self._requests:
            child, described = self._ready(self._begin(None))
            limits = None if described.own else self._limits_for(0)
            most = Most(MOST_SAID, MOST_OF_OWN << 10 if limits is None else MEMORY_FACTOR * limits.memory)
            request = {
                "do": "verify",
                "samples": samples,
                "seed": seed,
                "batches": list(BATCHES),
                "results": results,
            }
            found = self._ask(child, "a check", request, [], limits, most)
            return found.said, found.arrays, self._seconds

    _seconds = 0.0

    def _ask(self, *given: Any) -> Any:
        answer = super()._ask(*given)
        self._seconds = float(answer.said.get("seconds_to_load", self._seconds))
        return answer


def verify_model(
    path: StrPath,
    samples: int = 64,
    seed: int = 0,
    tolerance: float = TOLERANCE,
    limits: ModelLimits | None = None,
    progress: Callable[[str, int, int], object] = lambda message, done, total: None,
) -> Verified:
    """Check the model at ``path``, a PREFIX or a file of any format, on random inputs of two sizes.

    An ONNX file is also run by ONNX Runtime, where it is installed.

    Args:
        samples: the batch size of the inputs that are compared.
        limits: of a model that this installation did not write; those in force unless given.
        progress: called before each step with what it is, how many are done and how many there are.

    Raises:
        DataError, FormatError: the files are absent, damaged or no model.
        LimitError, ProgramError: an untrusted model exceeds its limits, or crashes.
    """
    if samples < 1 or seed < 0 or not tolerance >= 0:
        raise ArgumentError(
            f"verify: samples {samples}, seed {seed}, tolerance {tolerance}; samples must be at least 1, the "
            "others at least 0"
        )
    kind, place = model_place(path)
    runtime = kind == ONNX and find_spec("onnxruntime") is not None
    steps = 3 if runtime else 2
    with VerifyProcess(place, limits) as process:
        progress("Loading the model", 0, steps)
        own = process.load().own
        progress("Comparing and timing its results", 1, steps)
        said, arrays, seconds = process.verify(samples, seed, runtime)
        differences = {"prediction": _number(said.get("difference"), place)}
        if runtime:
            progress("Running it in ONNX Runtime", 2, steps)
            differences |= _by_other_runtimes(place, said, arrays, None if own else process.limits)
    return Verified(
        str(path),
        kind,
        own,
        samples,
        seed,
        differences,
        [_latency(each, place) for each in said.get("latencies", [])],
        bool(said.get("fixed_batch")),
        seconds,
        tolerance,
    )


def _by_other_runtimes(
    path: Path, said: dict[str, Any], arrays: list[np.ndarray[Any, Any]], limits: ModelLimits | None
) -> dict[str, float]:
    """The differences of what ONNX Runtime gives for the same inputs."""
    from engine.onnx.checking import answers  # which needs the extra onnx

    inputs, outputs = [str(n) for n in said["inputs"]], [str(n) for n in said["outputs"]]
    step = len(inputs) + len(outputs)
    parts = [arrays[begin : begin + step] for begin in range(0, len(arrays), step)]
    feeds = [dict(zip(inputs, part, strict=False)) for part in parts]
    # The evaluator in Python answers one feed: it is slow.
    found = answers(path, feeds, limits, every=1)
    return {
        runtime: max(
            difference(given[name], value, f"{path}: {runtime}: {name}")
            for given, part in zip(results, parts, strict=True)
            if given
            for name, value in zip(outputs, part[len(inputs) :], strict=True)
        )
        for runtime, results in found.results.items()
    }


def _latency(said: Any, path: Path) -> dict[str, Any]:
    if not isinstance(said, dict):
        raise _odd(path)
    times = {name: said.get(name) for name in ("p50", "p95")}
    seconds = {name: None if each is None else _number(each, path) for name, each in times.items()}
    return {"batch": int(_number(said.get("batch"), path)), **seconds}


def _number(value: Any, path: Path) -> float:
    if not isinstance(value, (int, float)) or math.isnan(value):
        raise _odd(path)
    return float(value)


def _odd(path: Path) -> FormatError:
    return FormatError(f"{path}: the model's process sent an invalid reply; get the model again")
