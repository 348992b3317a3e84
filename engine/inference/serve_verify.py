"""What the child process of a check does: run a model as it was saved and as it predicts, and time it."""

from __future__ import annotations

import time
from typing import Any, BinaryIO

import numpy as np

from engine.core.errors import FormatError, LimitError
from engine.eager.grad_mode import no_grad
from engine.inference import serve as serving
from engine.inference.serve import Arrays, Server
from engine.inference.wire import Message
from engine.jit.export import layer_of
from engine.jit.saved.compare_outputs import Feed, answered_feeds, difference
from engine.jit.saved.model_files import read_model_files
from engine.tensor.creation import to_tensor

LEAST_RUNS, MOST_RUNS = 20, 200
RUN_SECONDS = 2.0  # of timed runs at a batch size, after LEAST_RUNS


class VerifyServer(Server):
    """A model in two forms: as it was saved, and as everything that predicts runs it."""

    def __init__(self) -> None:
        super().__init__()
        self._saved: Any = None

    def answer(self, message: Message) -> tuple[dict[str, Any], Arrays]:
        said = message.said
        if said["do"] != "verify" or self._layer is None:
            return super().answer(message)
        return self._verify(said["samples"], said["seed"], said["batches"], said["results"])

    def _load(self, said: dict[str, Any]) -> tuple[dict[str, Any], Arrays]:
        begin = time.perf_counter()
        answer = super()._load(said)
        answer[0]["seconds_to_load"] = time.perf_counter() - begin
        self._saved = layer_of(read_model_files(said["prefix"]), 0)  # without any pass
        self._saved.eval()
        return answer

    def _verify(
        self, samples: int, seed: int, batches: list[int], results: bool
    ) -> tuple[dict[str, Any], Arrays]:
        program = self._layer.program()
        feeds, found = answered_feeds(program, lambda feed: _outputs(self._layer, feed), seed, samples)
        apart = []
        for feed, outputs in zip(feeds, found, strict=True):
            wanted = _outputs(self._saved, feed)
            if len(wanted) != len(outputs):
                raise FormatError(f"verify: {len(outputs)} results, {len(wanted)} as it was saved")
            pairs = zip(outputs, wanted, program.outputs, strict=True)
            apart += [difference(one, other, name) for one, other, name in pairs]
        block = program.global_block()
        varies = all(block.var(name).spec.shape[:1] == (-1,) for name in program.inputs)
        latencies = [
            {"batch": batch, **_times(self._layer, _repeated(feeds[0], batch if varies else 0), batch)}
            for batch in (batches if varies else batches[:1])
        ]
        said = {
            "difference": max(apart, default=0.0),
            "latencies": latencies,
            "fixed_batch": not varies,
            "inputs": list(program.inputs),
            "outputs": list(program.outputs),
        }
        if not results:
            return said, []
        return said, [
            a for feed, outputs in zip(feeds, found, strict=True) for a in (*feed.values(), *outputs)
        ]


def _outputs(layer: Any, feed: Feed) -> Arrays:
    with no_grad():
        found = layer(*map(to_tensor, feed.values()))
    outputs = found if isinstance(found, (list, tuple)) else [found]
    return [np.asarray(output.numpy()) for output in outputs]


def _repeated(feed: Feed, batch: int) -> Feed:
    """The first sample ``batch`` times; all as they are if that is 0."""
    return {name: value[:1].repeat(batch, axis=0) if batch else value for name, value in feed.items()}


def _times(layer: Any, feed: Feed, batch: int) -> dict[str, Any]:
    """As ``_timed``; a larger batch than one that is over the limits of the model has no times."""
    try:
        return _timed(layer, feed)
    except LimitError:
        if batch == 1:
            raise
        return {"p50": None, "p95": None, "runs": 0}


def _timed(layer: Any, feed: Feed) -> dict[str, Any]:
    """Median and 95th percentile of the seconds of a run, after a first one that prepares."""
    inputs = [to_tensor(array) for array in feed.values()]
    taken: list[float] = []
    with no_grad():
        layer(*inputs)
        end = time.perf_counter() + RUN_SECONDS
        while len(taken) < LEAST_RUNS or (len(taken) < MOST_RUNS and time.perf_counter() < end):
            begin = time.perf_counter()
            layer(*inputs)
            taken.append(time.perf_counter() - begin)
    p50, p95 = np.percentile(taken, (50, 95))
    return {"p50": float(p50), "p95": float(p95), "runs": len(taken)}


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """As ``engine.inference.serve.serve``, for a check."""
    serving.serve(requests, answers, VerifyServer())
