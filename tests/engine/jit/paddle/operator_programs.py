"""Write the rows of the operator table as Paddle's Programs, for the real Paddle to run.

    python -m tests.engine.jit.paddle.operator_programs FOLDER
    PADDLE_PYTHON tests/engine/jit/paddle/run_operators.py FOLDER

The second command prints, for each operator, how many rows gave the results of this library.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.operators.opdef import OPS
from engine.core.values.dtype import from_numpy
from engine.core.values.spec import Spec
from engine.files.paddle.program_desc import program_bytes
from engine.program.build.builder import building, variable
from engine.program.graph.program import Program, variables_of
from engine.program.saved.paddle.writes.write_program import write_program
from engine.static import Executor
from tests.engine.ops.case import Case
from tests.engine.ops.table import CASES

# What only trainings, their gradients and processes that train together hold.
_TRAINING = (
    "training.averages",
    "training.flat_updates",
    "training.loss_scaling",
    "training.parameter_updates",
    "control.collectives",
)


def program_of(case: Case) -> tuple[Program, dict[str, Any]]:
    """The Program of a row, and what it is fed: float32 for float64."""
    program = Program()
    feed: dict[str, Any] = {}

    def place(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [place(f"{name}_{n}", v) for n, v in enumerate(value)]
        if value is None:
            return None
        array = np.array(value)
        feed[name] = array = array.astype(np.float32) if array.dtype == np.float64 else array
        made = variable(program, name, Spec(array.shape, from_numpy(array.dtype)))
        made.is_data = True
        return made

    opdef = OPS[case.op]
    with building(program):
        values = [place(n, v) for n, v in zip(opdef.input_names, case.sample.inputs, strict=True)]
        result = opdef.namespace["__apply__"](*values, **case.sample.attrs)
    program.inputs = list(feed)
    results = result if isinstance(result, tuple) else (result,)
    wanted = [made for out, made in zip(opdef.outputs, results, strict=True) if out.name not in _UNWRITTEN]
    program.outputs = [v.name for v in variables_of(wanted)]
    return program, feed


_UNWRITTEN = ("gates", "cells")  # results that only gradients read


def _is_saved(op: str) -> bool:
    package, _, room = OPS[op].kernel.__module__.partition(".ops.")
    return package == "engine" and room not in _TRAINING and not op.endswith("_grad")


def main(folder: Path) -> None:
    """Write ``N.pdmodel`` and ``N.npz`` for each row, and ``index.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    index: list[Any] = []
    refused: dict[str, Counter[str]] = {}
    for number, case in enumerate(CASES):
        if not _is_saved(case.op):
            continue
        try:
            program, feed = program_of(case)
            given = {k: v.copy() for k, v in feed.items()}  # operators may write into them
            results = Executor().run(program, feed=given, fetch_list=list(program.outputs))
        except Exception:  # no Program of this row runs
            continue
        try:
            desc = write_program(program, case.id)
        except ArgumentError as error:
            refused.setdefault(case.op, Counter())[str(error).partition("written: ")[2]] += 1
            continue
        (folder / f"{number}.pdmodel").write_bytes(program_bytes(desc))
        arrays = {f"i{k}": v for k, v in feed.items()} | {f"o{n}": v for n, v in enumerate(results)}
        np.savez(folder / f"{number}.npz", **arrays)
        index.append([number, case.op, case.id, list(feed), bool(OPS[case.op].random)])
    (folder / "index.json").write_text(json.dumps(index), "utf-8")
    written = {op for _, op, *_ in index}
    print(f"{len(index)} rows of {len(written)} operators are written")
    for op in sorted(refused.keys() - written):
        print(f"  refused: {'; '.join(refused[op])}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
