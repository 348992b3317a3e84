"""How soon `model-studio train` has trained its first step: each start is a new process.

The time goes from the start of Python to the end of the first step, with files in the system's cache, with
bytecode and with the digits of this person's cache: a start that is not measured writes them. Processor time
is printed too, since a busy machine changes it least. Decisions 97 and 103 say what waits until later.

``python -m bench.train_start --against ../before`` starts the command of another checkout in alternation.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.timing import table

GOAL_MS = 600
PLACES = {
    "read": "the command line is read and the engine is there",
    "started": "data, network and folder are there",
    "step": "the first step is trained",
}

_CHILD = """
import sys
sys.argv = ["model-studio", "train", *sys.argv[1:]]
import importlib
import os
import time
from importlib.util import find_spec
from itertools import accumulate
from studio.cli import main

def mark(place):
    print(f"mark {place} {1000 * time.process_time():.1f}", file=sys.__stderr__, flush=True)

training = next(  # the module that carries out the command, in this checkout and in earlier ones
    importlib.import_module(f"studio.cli.{name}")
    for name in ("train.train_command", "train_command", "training")
    if all(find_spec(f"studio.cli.{part}") for part in accumulate(name.split("."), "{}.{}".format))
)
carry_out = training._run

def marked(run, *rest):
    mark("read")

    def heard(event):
        if event["event"] != "started":
            return
        mark("started")
        stepper = run._parts.stepper
        train = stepper.train

        def first(*batch):
            train(*batch)
            mark("step")
            os._exit(0)

        stepper.train = first

    run.listeners.append(heard)
    carry_out(run, *rest)

training._run = marked
main()
"""


def one_start(checkout: Path, bytecode: str, arguments: list[str]) -> dict[str, tuple[float, float]]:
    """Milliseconds and those of the processor until each place; ``bytecode`` is the folder for it."""
    env = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONPATH": str(checkout)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    reached: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        words = [*arguments, "--out", str(Path(folder) / "run")]
        begin = time.perf_counter()
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, *words], stderr=subprocess.PIPE, text=True, env=env, cwd=folder
        )
        assert child.stderr is not None
        said = []
        for line in child.stderr:
            if line.startswith("mark "):
                _, place, processor = line.split()
                reached[place] = 1000 * (time.perf_counter() - begin), float(processor)
            else:
                said.append(line)
        if child.wait() or set(reached) != set(PLACES):
            raise SystemExit(f"bench.train_start: the command ended early: {''.join(said)[-2000:]}")
    return reached


def main() -> None:
    """Print medians and minima for each place on the way, and the ratio to the other checkout."""
    reader = argparse.ArgumentParser(prog="python -m bench.train_start", description=__doc__)
    reader.add_argument("--against", metavar="FOLDER", help="another checkout, started in alternation")
    reader.add_argument("--starts", type=int, default=7, help="how many of each (default: 7)")
    reader.add_argument("rest", nargs="*", metavar="-- OPTIONS", help="options of the command train")
    given = reader.parse_args()
    checkouts = {"here": Path(__file__).resolve().parents[1]}
    if given.against:
        checkouts["before"] = Path(given.against).resolve()
    starts: dict[str, list[dict[str, tuple[float, float]]]] = {name: [] for name in checkouts}
    with tempfile.TemporaryDirectory() as bytecode:
        for checkout in checkouts.values():
            one_start(checkout, bytecode, given.rest)
        for turn in range(given.starts):
            names = list(checkouts)[:: 1 if turn % 2 else -1]
            for name in names:
                starts[name].append(one_start(checkouts[name], bytecode, given.rest))
    rows = [
        ["ms, min / median", *(f"{name}: {what}" for name in checkouts for what in ("wall", "processor"))]
    ]
    for place, title in PLACES.items():
        row = [title]
        for start in starts.values():
            for which in (0, 1):
                values = [one[place][which] for one in start]
                row.append(f"{min(values):.0f} / {median(values):.0f}")
        rows.append(row)
    print(table(rows))
    print(f"to reach on a machine that does nothing else: {GOAL_MS} ms to the first step")


if __name__ == "__main__":
    main()
