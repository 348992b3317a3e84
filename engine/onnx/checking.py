"""Whether an ONNX file computes what its Program does: in a clean process, by each runtime that is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.core.errors import FormatError
from engine.program.graph.liveness import with_sub_blocks
from engine.program.graph.program import Program, Variable
from engine.program.run.executor import Executor

SIZES = (2, 3)  # of unknown dimensions, in the two runs
TOLERANCE = 1e-5  # of the largest result
SECONDS = 300
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Checked:
    """By runtime: the largest difference as a share of the largest result, and the seconds of a run."""

    differences: dict[str, float]
    latencies: dict[str, float]


def check_file(path: Path, program: Program) -> Checked:
    """Run the file and the Program it was made of on random inputs of two sizes.

    A quantized model may round a value on the edge between two levels to the other one, which moves its
    results by far more than rounding does: of three draws one must agree.

    Raises FormatError where a runtime refuses the file or its results differ by over ``TOLERANCE``.
    """
    quantized = any("quantize" in o.opdef.name for o in with_sub_blocks(program.global_block().ops))
    for seed in range(3 if quantized else 1):
        checked = _checked(path, program, seed)
        if max(checked.differences.values()) <= TOLERANCE:
            return checked
    runtime, apart = max(checked.differences.items(), key=lambda item: item[1])
    raise FormatError(
        f"{path}: {runtime} gives results that differ by {apart:.2g} of the largest, over {TOLERANCE:g}; "
        "report this with the model's code"
    )


def _checked(path: Path, program: Program, seed: int) -> Checked:
    feeds = [_inputs(program, size, np.random.default_rng((seed, size))) for size in SIZES]
    wanted = [Executor().run(program, feed=feed, fetch_list=list(program.outputs)) for feed in feeds]
    with tempfile.TemporaryDirectory(prefix="model-studio-onnx-") as folder:
        asked, answered = Path(folder, "asked.npz"), Path(folder, "answered")
        np.savez(asked, **{f"{n}/{name}": v for n, feed in enumerate(feeds) for name, v in feed.items()})
        latencies = _run(path, asked, answered)
        differences = {}
        for runtime in latencies:
            with np.load(f"{answered}-{runtime}.npz", allow_pickle=False) as found:
                differences[runtime] = max(
                    difference(found[f"{n}/{name}"], value, f"{path}: {runtime}: {name}")
                    for n, values in enumerate(wanted)
                    for name, value in zip(program.outputs, values, strict=True)
                )
    return Checked(differences, latencies)


def difference(found: np.ndarray, wanted: np.ndarray, where: str) -> float:
    """The largest difference as a share of the largest result. Raises FormatError for another shape."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        raise FormatError(
            f"{where} is {found.dtype}{list(found.shape)}, not {wanted.dtype}{list(wanted.shape)}; report "
            "this with the model's code"
        )
    if not wanted.size or np.array_equal(found, wanted):
        return 0.0
    if wanted.dtype.kind not in "fc":
        return float("inf")
    finite = np.isfinite(wanted)
    if not np.array_equal(found[~finite], wanted[~finite], equal_nan=True):
        return float("inf")
    largest = np.abs(wanted[finite]).max(initial=1e-30)
    return float(np.abs(found[finite].astype(np.float64) - wanted[finite]).max(initial=0.0) / largest)


def _inputs(program: Program, size: int, random: np.random.Generator) -> dict[str, np.ndarray]:
    block = program.global_block()
    return {name: _drawn(block.var(name), size, random) for name in program.inputs}


def _drawn(variable: Variable, size: int, random: np.random.Generator) -> np.ndarray:
    """Normal numbers, or integers 0 and 1, which every index and length can be."""
    shape = [size if d < 0 else d for d in variable.spec.shape]
    kind = variable.spec.dtype.np
    if np.dtype(kind).kind in "fc":
        return random.standard_normal(shape).astype(kind)
    return random.integers(0, 2, shape).astype(kind)


def _run(path: Path, asked: Path, answered: Path) -> dict[str, float]:
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-m", "engine.onnx.run_files", str(path.resolve()), str(asked), str(answered)]
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
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise FormatError(f"{path}: it does not run in a clean process: {said}; report this with the code")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
