"""How long two Programs take to compare, against a budget: ``python -m bench.structure [--operators N]``.

The Programs have the operators of a residual network: with the paths of layers and without any, as they are
and with all Variables renamed, and with 1 to 1,000 operators deleted or changed. The budget of 2 s is for
100,000 operators in each; what counts is this process's own time.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
import time
from typing import Any

from engine.jit.saved.structure import compare_structure

BUDGET = 2.0
Plain = dict[str, Any]


def network(operators: int, layers: bool) -> Plain:
    """A chain of convolutions, batch norms, relus and sums."""
    ops: list[Plain] = []
    variables: list[Plain] = []

    def parameter(name: str, *shape: int) -> str:
        variables.append({"name": name, "shape": list(shape), "dtype": "float32"})
        return name

    last = "x"
    for n in range(operators):
        kind = ("conv2d", "batch_norm", "relu", "elementwise_add")[n % 4]
        reads, attrs = {"X": [last]}, {}
        if kind == "conv2d":
            reads = {"Input": [last], "Filter": [parameter(f"w{n}", 8, 8, 3, 3)]}
            attrs = {"strides": [1, 1], "paddings": [1, 1], "groups": 1, "data_format": "NCHW"}
        elif kind == "batch_norm":
            reads |= {each: [parameter(f"{each}{n}", 8)] for each in ("Mean", "Variance", "Scale", "Bias")}
            attrs = {"epsilon": 1e-5, "momentum": 0.9, "is_test": True}
        elif kind == "elementwise_add":
            reads["Y"] = ops[-3]["outputs"]["Out"]
        op = {"type": kind, "inputs": reads, "outputs": {"Out": [f"t{n}"]}, "attrs": attrs, "regions": []}
        op |= {
            "file": "net.py",
            "line": 12,
            "layer": f"layer{n // 400}.{n // 4 % 100}.{kind}" if layers else "",
        }
        ops.append(op)
        last = f"t{n}"
    block = {"idx": 0, "parent": -1, "vars": variables, "ops": ops}
    return {"version": 2, "inputs": ["x"], "outputs": [last], "blocks": [block]}


def edited(plain: Plain, edits: int, rename: bool) -> Plain:
    """A copy with so many operators deleted or changed, and with other names."""
    made = copy.deepcopy(plain)
    ops, draw = made["blocks"][0]["ops"], random.Random(edits)
    for _ in range(edits):
        at = draw.randrange(4, len(ops) - 4)
        if draw.random() < 0.5:
            op = ops.pop(at)
            old, new = op["outputs"]["Out"][0], next(iter(op["inputs"].values()))[0]
            for each in ops[at : at + 8]:
                reads = each["inputs"].items()
                each["inputs"] = {
                    slot: [new if name == old else name for name in names] for slot, names in reads
                }
        else:
            ops[at]["attrs"]["changed"] = 1
    if rename:
        for each in (*made["blocks"][0]["vars"],):
            each["name"] = f"other_{each['name']}"
        for op in ops:
            for key in ("inputs", "outputs"):
                op[key] = {slot: [f"other_{name}" for name in names] for slot, names in op[key].items()}
        for key in ("inputs", "outputs"):
            made[key] = [f"other_{name}" for name in made[key]]
    return made


def main() -> int:
    """Measure and print; 1 where one is over the budget."""
    made = argparse.ArgumentParser(prog="python -m bench.structure", description=__doc__.splitlines()[0])
    made.add_argument("--operators", type=int, default=100_000)
    operators = made.parse_args().operators
    budget, over = BUDGET * operators / 100_000, 0
    for layers, rename in ((True, False), (True, True), (False, False), (False, True)):
        before = network(operators, layers)
        for edits in (0, 1, 50, 1000):
            after = edited(before, edits, rename)
            start = time.thread_time()
            found = compare_structure(before, after)
            taken = time.thread_time() - start
            over += taken > budget
            case = f"{'layers' if layers else 'no layers'}, {'renamed' if rename else 'same names'}"
            print(
                f"{case}, {edits:5} edits: {len(found.changes):5} changes, "
                f"{taken:.2f} s {'>' if taken > budget else '<='} {budget:g} s",
                flush=True,
            )
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
