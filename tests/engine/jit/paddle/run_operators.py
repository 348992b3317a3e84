"""Run the Programs of ``operator_programs.py`` with the real Paddle, in child processes that may crash."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import paddle

TOLERANCE = 1e-5  # of the largest result


def _run(folder: Path, number: int, feeds: list[str], random: bool) -> str:
    """Why the results of a row differ; empty where they do not."""
    program = paddle.static.Program.parse_from_string((folder / f"{number}.pdmodel").read_bytes())
    data = np.load(folder / f"{number}.npz")
    fetches = [op.input("X")[0] for op in program.global_block().ops if op.type == "fetch"]
    feed = {name: data[f"i{name}"] for name in feeds}
    with paddle.static.scope_guard(paddle.static.Scope()):
        found = paddle.static.Executor().run(program, feed=feed, fetch_list=fetches)
    for n, value in enumerate(found):
        wanted, value = data[f"o{n}"], np.asarray(value)
        if not wanted.size:
            continue
        if (value.shape, value.dtype) != (wanted.shape, wanted.dtype):
            return f"{value.dtype}{value.shape} for {wanted.dtype}{wanted.shape}"
        if random:
            continue
        finite = np.isfinite(wanted)
        largest = max(float(np.abs(wanted[finite]).max(initial=0)), 1e-20)
        apart = float(np.abs(value[finite].astype(float) - wanted[finite]).max(initial=0)) / largest
        if not apart <= TOLERANCE or not np.array_equal(value[~finite], wanted[~finite], equal_nan=True):
            return f"{apart:.2g} of the largest apart"
    return ""


def _in_children(folder: Path, index: list[list]) -> dict[int, str]:
    """The faults of all rows: a child goes on behind the row that crashed the one before it."""
    faults: dict[int, str] = {}
    while len(faults) < len(index):
        rest = index[len(faults) :]
        reading, writing = os.pipe()
        if os.fork() == 0:
            with os.fdopen(writing, "w") as pipe:
                for number, _, _, feeds, random in rest:
                    try:
                        fault = _run(folder, number, feeds, random)
                    except Exception as error:  # Paddle's own kinds
                        fault = " ".join(str(error).split())[-200:] or type(error).__name__
                    pipe.write(json.dumps([number, fault]) + "\n")
                    pipe.flush()
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            faults.update(json.loads(line) for line in pipe)
        os.wait()
        if len(faults) < len(index):
            faults.setdefault(index[len(faults)][0], "the process crashed")
    return faults


def main(folder: Path) -> None:
    paddle.enable_static()
    index = json.loads((folder / "index.json").read_text("utf-8"))
    faults = _in_children(folder, index)
    rows, right = Counter(op for _, op, *_ in index), Counter()
    for number, op, *_ in index:
        right[op] += not faults[number]
    well = sum(right[op] > 0 for op in rows)
    print(f"{sum(right.values())} of {len(index)} rows; {well} of {len(rows)} operators")
    for number, op, row, *_ in index:
        if faults[number]:
            print(f"  {op} ({right[op]} of {rows[op]}): {row}: {faults[number]}")


main(Path(sys.argv[1]))
