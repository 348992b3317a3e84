"""Whether an ONNX file computes what its Program does: in a clean process, by each runtime that is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import FormatError, LimitError
from engine.core.models.limits import ModelLimits, how_to_raise
from engine.files.untrusted import child as children
from engine.files.untrusted.limits import TOO_MUCH_MEMORY
from engine.jit.saved.compare_outputs import TOLERANCE, Feed, answered_feeds, difference, outputs_of
from engine.program.graph.liveness import with_sub_blocks
from engine.program.graph.program import Program

SECONDS = 300
# What runtimes take beyond the values of a model: threads, compiled graphs, the evaluator's copies.
MEMORY_FACTOR, MEMORY_MORE = 4, 512 << 20
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Checked:
    """By runtime: the largest difference as a share of the largest result, and the seconds of a run."""

    differences: dict[str, float]
    latencies: dict[str, float]


@dataclass(frozen=True)
class Answers:
    """What each runtime gave: its results by name for each feed, the seconds of a run of the first feed and
    those to load the file."""

    results: dict[str, list[dict[str, np.ndarray]]]
    latencies: dict[str, float]
    loading: dict[str, float]


def check_file(
    path: Path, program: Program, limits: ModelLimits | None = None, feeds: Sequence[Feed] = ()
) -> Checked:
    """Run the file and the Program it was made of on ``feeds``, or else on random inputs of two sizes.

    A quantized model may round a value on the edge between two levels to the other one, which moves its
    results by far more than rounding does: of three draws one must agree. ``limits`` as of ``answers``.

    Raises FormatError where a runtime refuses the file or its results differ by over ``TOLERANCE``.
    """
    quantized = any("quantize" in o.opdef.name for o in with_sub_blocks(program.global_block().ops))
    for seed in range(3 if quantized else 1):
        checked = _checked(path, program, feeds, seed, limits)
        if max(checked.differences.values()) <= TOLERANCE:
            return checked
    runtime, apart = max(checked.differences.items(), key=lambda item: item[1])
    raise FormatError(
        f"{path}: {runtime} gives results that differ by {apart:.2g} of the largest, over {TOLERANCE:g}; "
        "report this with the model's code"
    )


def _checked(
    path: Path, program: Program, feeds: Sequence[Feed], seed: int, limits: ModelLimits | None
) -> Checked:
    if feeds:
        wanted = [outputs_of(program, feed) for feed in feeds]
    else:
        feeds, wanted = answered_feeds(program, lambda feed: outputs_of(program, feed), seed)
    found = answers(path, feeds, limits)
    differences = {
        runtime: max(
            difference(given[name], value, f"{path}: {runtime}: {name}")
            for given, values in zip(results, wanted, strict=True)
            for name, value in zip(program.outputs, values, strict=True)
        )
        for runtime, results in found.results.items()
    }
    return Checked(differences, found.latencies)


def answers(path: Path, feeds: Sequence[Feed], limits: ModelLimits | None = None, every: int = 0) -> Answers:
    """Run an ONNX file for inputs by name, in a clean process, by each runtime that is installed.

    Args:
        limits: of a model that this installation did not write; what the sizes of file and inputs explain is
            added. None: no limit but ``SECONDS``.
        every: how many of the feeds every runtime answers; others are for the first alone, ONNX Runtime where
            it is installed. 0: all.

    Raises FormatError where a runtime refuses the file, LimitError where it exceeds the limits.
    """
    with tempfile.TemporaryDirectory(prefix="model-studio-onnx-") as folder:
        asked, answered = Path(folder, "asked.npz"), Path(folder, "answered")
        arrays: dict[str, Any] = {
            f"{n}/{name}": v for n, feed in enumerate(feeds) for name, v in feed.items()
        }
        np.savez(asked, **arrays)
        said = _run(path, asked, answered, _with_sizes(limits, path, feeds), every)
        results: dict[str, list[dict[str, np.ndarray]]] = {}
        for runtime in said["latencies"]:
            results[runtime] = [{} for _ in feeds]
            with np.load(f"{answered}-{runtime}.npz", allow_pickle=False) as found:
                for key in found.files:
                    number, _, name = key.partition("/")
                    results[runtime][int(number)][name] = found[key]
    return Answers(results, said["latencies"], said["loading"])


def _with_sizes(limits: ModelLimits | None, path: Path, feeds: Sequence[Feed]) -> ModelLimits | None:
    if limits is None:
        return None
    values = sum(array.nbytes for feed in feeds for array in feed.values())
    return limits.for_bytes(path.stat().st_size + values)


def _run(
    path: Path, asked: Path, answered: Path, limits: ModelLimits | None, every: int
) -> dict[str, dict[str, float]]:
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [
        sys.executable,
        "-m",
        "engine.onnx.run_files",
        str(path.resolve()),
        str(asked),
        str(answered),
        str(every),
    ]
    memory = None if limits is None else MEMORY_FACTOR * limits.memory + MEMORY_MORE
    if limits is not None and memory is not None:
        command += [str(memory), str(limits.seconds)]
    try:
        done = subprocess.run(
            command,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            cwd=asked.parent,  # Python imports from where it starts
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FormatError(f"{path}: running it took over {SECONDS} s; try a smaller model") from None
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [children.ending(done.returncode)])[-1]
        if limits is not None and memory is not None:
            _raise_limit(path, done.returncode, said, limits, memory)
        raise FormatError(f"{path}: it does not run in a clean process: {said}; report this with the code")
    found: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _raise_limit(path: Path, code: int, said: str, limits: ModelLimits, memory: int) -> None:
    """Raise LimitError where a process with limits ended by one of them."""
    if "SIGXCPU" in children.ending(code):
        raise LimitError(
            f"{path}: running it took over {limits.seconds:.3g} s of processor time, its limit; "
            f"{how_to_raise('seconds', round(10 * limits.seconds))}"
        )
    if code == TOO_MUCH_MEMORY or any(word in said for word in ("MemoryError", "bad_alloc", "allocat")):
        raise LimitError(
            f"{path}: running it takes more than {memory >> 20} MB, the limit of its process; "
            f"{how_to_raise('memory', f'{limits.memory >> 18} MB')}"
        )
