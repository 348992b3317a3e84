"""Events as the child of the page Debug sends them, about a Program of three operators."""

from __future__ import annotations

from typing import Any

FILE = "/models/net.py"
SOURCE = "\n".join(f"line {number}" for number in range(1, 31)) + "\n"


def operator(kind: str, layer: str, line: int, inputs: list[str], output: str) -> dict[str, Any]:
    return {
        "type": kind,
        "inputs": {"X": inputs},
        "outputs": {"Out": [output]},
        "attrs": {},
        "file": FILE,
        "line": line,
        "layer": layer,
        "regions": [],
    }


def variable(name: str, shape: list[int]) -> dict[str, Any]:
    return {
        "name": name,
        "shape": shape,
        "dtype": "float32",
        "persistable": False,
        "parameter": False,
        "stop_gradient": True,
    }


def program() -> dict[str, Any]:
    operators = [
        operator("conv2d", "features.0", 10, ["x"], "a"),
        operator("log", "features.1", 20, ["a"], "b"),
        operator("relu", "features.1", 20, ["b"], "c"),
    ]
    variables = [variable(name, [2, 3, 4, 4]) for name in "xabc"]
    return {"blocks": [{"idx": 0, "parent": -1, "vars": variables, "ops": operators}]}


def opened(**values: Any) -> dict[str, Any]:
    parts = [
        {"name": "forward", "program": program(), "rows": []},
        {"name": "update", "program": None, "rows": ["features.0.weight"]},
    ]
    notes = ["Compiled kernels round otherwise."]
    head = {"title": "LeNet, step 3", "notes": notes, "parts": parts}
    return {"event": "debug_opened", "time": 1.0, **head, "source": SOURCE, "source_file": FILE, **values}


def value(name: str, nan: int = 0, shape: tuple[int, ...] = (2, 3, 4, 4)) -> dict[str, Any]:
    return {
        "name": name,
        "shape": list(shape),
        "dtype": "float32",
        "nan": nan,
        "positive_infinite": 0,
        "negative_infinite": 0,
        "zero": 1,
        "minimum": -1.5,
        "maximum": 2.5,
        "kept": True,
    }


def stopped(position: int, reason: str = "step", **values: Any) -> dict[str, Any]:
    """After that many of the three operators."""
    stop: dict[str, Any] = {"reason": reason, "message": "", "batch": 3, "position": position}
    if position:
        found = program()["blocks"][0]["ops"][position - 1]
        stop |= {
            "part": "forward",
            "where": [[0, position - 1]],
            "iterations": [],
            "operator": found["type"],
            "layer": found["layer"],
            "file": FILE,
            "line": found["line"],
            "source": "",
            "value": "",
            "inputs": [value(name) for name in found["inputs"]["X"]],
            "outputs": [value(name) for name in found["outputs"]["Out"]],
            "watches": [],
        }
    more = {"request": 0, "watching": 1, "breakpoints": [], "changes": [], "values": [], "updates": []}
    stop |= {name: values.pop(name) for name in list(values) if name not in more}
    return {"event": "debug_stopped", "time": 1.0, "stop": stop, **more, **values}
