"""Whether exported files answer as their network does, in a clean process, in whichever format they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.core.errors import FormatError
from engine.files.atomic import saving
from engine.files.data.npy import open_npy
from engine.jit.saved.compare_outputs import difference
from engine.training.sources.several_inputs import Samples, inputs_in

VERIFY_SECONDS = 120
FEW = 3  # images that every runtime of ONNX answers; evaluators in Python are slow
TOLERANCE = 1e-4  # of the largest score; the network computes batches of other sizes
_ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Verified:
    """Measured in a clean process: scores by image, the seconds for one image and those to load."""

    scores: np.ndarray
    latency: float
    seconds_to_load: float


def verify(written: Path, images: Samples, target: Path, work: Path) -> Verified:
    """Load the files of the prefix ``written`` in a fresh process and compute their scores of ``images``, an
    array, or one for each of several inputs.
    Messages name ``target``, where they shall lie; ``work`` is a folder for what passes to and fro.

    Raises:
        FormatError: the process could not load or run the model; says what it said.
        SaveError: the disk has no room for images and scores.
    """
    return verify_all([written], images, target, work, "export", VERIFY_SECONDS)[0]


def verify_all(
    written: Sequence[Path], images: Samples, target: Path, work: Path, what: str, seconds: float
) -> list[Verified]:
    """As ``verify`` for several models, which one process measures in alternation within ``seconds``.

    ``what`` is the command that messages begin with.
    """
    # The process starts in an empty folder: Python imports from where it starts.
    empty, asked = (work / name for name in ("empty", "inputs-"))
    given = inputs_in(images)
    with saving(target):
        empty.mkdir()
        for number, each in enumerate(given):
            np.save(f"{asked}{number}.npy", each, allow_pickle=False)
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    files = [str(path.resolve()) for path in (asked, work / "scores-", *written)]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "engine.training.exporting.verify", str(len(given)), *files],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            cwd=empty,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FormatError(
            f"{what} {target}: nothing was exported: loading the files took over {seconds:g} s; try "
            "with fewer samples"
        ) from None
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        for path in files[2:]:
            said = said.replace(path, str(target))
        raise FormatError(
            f"{what} {target}: nothing was exported: the files don't load in a clean process: {said}; report "
            "this with the model's code"
        )
    measured = json.loads(done.stdout)
    return [
        Verified(open_npy(f"{files[1]}{number}.npy").whole(), latency, loaded)
        for number, (latency, loaded) in enumerate(
            zip(measured["latencies"], measured["seconds_to_load"], strict=True)
        )
    ]


def verify_onnx(
    written: Path, feed: Mapping[str, np.ndarray], expected: np.ndarray, target: Path
) -> Verified:
    """As ``verify`` for an ONNX file whose inputs have these names: the scores of ONNX Runtime, where it is
    installed. Each runtime answers the first images, and must give what is ``expected`` of them.

    Raises FormatError.
    """
    from engine.onnx.checking import answers  # which needs the extra onnx

    try:
        feeds = [{name: each[:count] for name, each in feed.items()} for count in (1, FEW, None)]
        found = answers(written, feeds, every=2)
    except FormatError as error:
        said = str(error).replace(str(written), str(target))
        raise FormatError(f"export {said}; nothing was exported") from error
    for runtime, results in found.results.items():
        (scores,) = results[1].values()
        apart = difference(scores, expected[:FEW], f"export {target}: {runtime}")
        if apart > TOLERANCE:
            raise FormatError(
                f"export {target}: nothing was exported: {runtime} gives results that differ by {apart:.2g} "
                "of the largest; report this with the model's code"
            )
    first = next(iter(found.results))
    (scores,) = found.results[first][2].values()
    return Verified(scores, found.latencies[first], found.loading[first])
