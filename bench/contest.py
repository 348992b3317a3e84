"""Contenders that do the same job in alternation, each in a process of its own: who, and how they are timed.

Machines are noisy, so only what was measured within one session is compared: every round lets each contender
run for a share of the time, and begins with another one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from bench import isa
from bench.nets import Row
from bench.peers.protocol import CHECKOUT, Worker, WorkerError, cores, libraries
from bench.results import Result
from bench.timing import take_turns

WARM_UP = 3
# How the engine is called, and its kernels: those that an installation takes, or NumPy's alone.
ENGINES = {
    "engine eager": ("eager", "auto"),
    "engine layer": ("layer", "auto"),
    "engine plan": ("static", "auto"),
    "engine static": ("static", "numpy"),
}
FORMER = {"engine fast": "engine plan"}  # names that contenders had
BEFORE = " before"  # ends the names of contenders of another checkout
MOST_STEPS = 100_000  # in one turn


@dataclass(frozen=True)
class Contender:
    """A worker that can take part; ``kinds`` of rows that it can do, ``missing`` says why it can't at all."""

    python: str
    module: str
    arguments: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("train", "predict")
    environment: Mapping[str, str] = field(default_factory=dict)
    limit: bool = True
    missing: str = ""


def engine_contender(mode: str, kernels: str, checkout: str = "") -> Contender:
    """The engine in one of its modes, with NumPy's kernels or those of an installation; of another
    checkout."""
    environment = {"MODEL_STUDIO_KERNELS": kernels, CHECKOUT: checkout}
    # Predictions from a file, which is what the row is about, are the same in each mode but the eager one.
    kinds = ("train", "predict") if mode == "static" else ("train",)
    return Contender(sys.executable, "bench.peers.paddle_steps", ("engine", mode), kinds, environment, False)


def contenders(peer: str | None, paddle: str | None, against: str = "") -> dict[str, Contender]:
    """All that can take part; ``peer`` has torch and ONNX Runtime, ``paddle`` has Paddle (None if absent).

    With ``against``, a checkout, its engine takes part in each mode too: "engine static before".
    """
    there = libraries(peer, ["torch", "onnx", "onnxruntime"]) if peer else []
    has_paddle = bool(paddle) and "paddle" in libraries(str(paddle), ["paddle"])
    no_torch = "" if "torch" in there else f"{peer or '--peer'} has no torch"
    no_onnx = "" if {"onnx", "onnxruntime"} <= {*there} else f"{peer or '--peer'} lacks onnx or onnxruntime"
    no_paddle = "" if has_paddle else f"{paddle or '--paddle'} has no paddle"
    torch, steps, ops = "bench.peers.torch_steps", "bench.peers.paddle_steps", "bench.peers.tiny_ops"
    engines = {
        f"{name}{ending}": engine_contender(mode, kernels, checkout)
        for name, (mode, kernels) in ENGINES.items()
        for ending, checkout in (("", ""), *([(BEFORE, against)] if against else []))
    }
    return {
        **engines,
        "torch eager": Contender(str(peer), torch, ("eager",), missing=no_torch),
        "torch compile": Contender(str(peer), torch, ("compile",), missing=no_torch),
        "paddle eager": Contender(str(paddle), steps, ("paddle", "eager"), ("train",), missing=no_paddle),
        "paddle static": Contender(str(paddle), steps, ("paddle", "static"), missing=no_paddle),
        "onnxruntime": Contender(str(peer), "bench.peers.onnx_steps", (), ("predict",), missing=no_onnx),
        "engine operator": Contender(sys.executable, ops, ("engine",), ("operator",)),
        **(
            {
                f"engine operator{BEFORE}": Contender(
                    sys.executable, ops, ("engine",), ("operator",), {CHECKOUT: against}
                )
            }
            if against
            else {}
        ),
        "torch operator": Contender(str(peer), ops, ("torch",), ("operator",), missing=no_torch),
        "paddle operator": Contender(str(paddle), ops, ("paddle",), ("operator",), missing=no_paddle),
    }


def limited(found: Mapping[str, Contender], wanted: str) -> dict[str, Contender]:
    """Contenders that use no more than the wanted instruction set; empty: what the CPU has."""
    return {
        name: one
        if one.missing
        else replace(one, environment={**one.environment, **isa.variables(one.python, wanted)})
        for name, one in found.items()
    }


class Contest:
    """Contenders of one row: processes that have begun their work."""

    def __init__(self, row: Row, found: Mapping[str, Contender], threads: int) -> None:
        self._row = row
        self._stack = ExitStack()
        self._workers: dict[str, Worker] = {}
        self._step: dict[str, float] = {}  # seconds
        self.results = {name: Result(name) for name in found}
        for name, one in found.items():
            if one.missing:
                self.results[name].skipped = one.missing
            else:
                self._attempt(name, lambda name=name, one=one: self._begin(name, one, threads))  # type: ignore[misc]

    def __enter__(self) -> Contest:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _attempt(self, name: str, work: Callable[[], None]) -> None:
        try:
            work()
        except WorkerError as error:
            self.results[name].skipped = str(error)
            self._workers.pop(name, None)

    def _line(self, what: str) -> str:
        if self._row.kind == "operator":
            return self._row.job.net
        return f"{self._row.kind} {what} {self._row.job.text()}"

    def _begin(self, name: str, one: Contender, threads: int) -> None:
        worker = Worker(
            one.python,
            one.module,
            one.arguments,
            threads,
            limit=one.limit,
            environment=one.environment,
            cores=cores(threads),
        )
        self._stack.callback(worker.close)
        self._workers[name] = worker
        self.results[name].version = worker.version
        begun = self._ask(name, WARM_UP, "begin")
        self._step[name] = begun["seconds"] / WARM_UP
        self.results[name].kernels = begun.get("kernels")
        self.results[name].first = begun.get("first")

    def _ask(self, name: str, count: int, what: str) -> dict[str, Any]:
        return self._workers[name].repeat(count, self._line(what))

    def run(self, rounds: int, seconds: float) -> list[Result]:
        """Let everybody run for about ``seconds`` in ``rounds`` turns; the results, losses compared last."""

        def turn(name: str) -> Callable[[], float]:
            count = max(1, min(MOST_STEPS, round(seconds / rounds / max(self._step[name], 1e-9))))
            self.results[name].steps = count * rounds

            def run() -> float:
                answer = self._ask(name, count, "time")
                self.results[name].cpu.append(answer["cpu"] / count)
                self.results[name].peak = answer["peak"]
                return float(answer["seconds"]) / count

            return run

        if self._workers:
            for series in take_turns({name: turn(name) for name in self._workers}, rounds):
                self.results[series.name].seconds = series.seconds
        if self._row.kind != "operator":
            for name in list(self._workers):
                self._attempt(name, lambda name=name: self._check(name))  # type: ignore[misc]
        return list(self.results.values())

    def _check(self, name: str) -> None:
        count = self._row.checked if self._row.kind == "train" else 1
        self.results[name].loss = float(self._ask(name, count, "check")["loss"])


def can_take_part(row: Row, names: Sequence[str], found: Mapping[str, Contender]) -> dict[str, Contender]:
    """Those of ``names`` that do rows of this kind."""
    return {name: found[name] for name in names if row.kind in found[name].kinds}
