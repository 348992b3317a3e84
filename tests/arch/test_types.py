"""Which code mypy checks strictly: all rooms of the engine but kernels and facades of 1.x."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator

from tests.arch.open_types import open_types
from tests.arch.repository_files import ROOT, repository_files

# Bodies of kernels, and names of versions before 2.0.
NOT_STRICT = {"engine.kernels", "engine.fluid"}
NOT_COUNTED = {name.removeprefix("engine.") for name in NOT_STRICT}
# Parameters of public functions that are ``Any``, by room: ``python -m tests.arch.open_types``.
MOST_OPEN = {
    "core": 16,
    "device": 1,
    "distributed": 15,
    "hapi": 3,
    "io": 2,
    "jit": 41,
    "nn": 17,
    "onnx": 1,
    "program": 4,
    "tensor": 3,
    "training": 2,
    "utils": 1,
    "vision": 2,
}


def _bare_functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """The functions that lack an annotation of a parameter or of the result."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            given = node.args
            listed = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            bare = [
                a for a in listed if a is not None and a.annotation is None and a.arg not in ("self", "cls")
            ]
            if bare or node.returns is None:
                yield node


def _defines_operator(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "op"


def test_every_room_is_strict_but_kernels_and_facades() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    strict = {name for name in settings["tool"]["mypy"]["packages"] if name.count(".") == 1}
    entries = [p for p in (ROOT / "engine").iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()]
    rooms = {f"engine.{path.stem}" for path in entries if path.stem != "__init__"}
    assert {name for name in strict if name.startswith("engine.")} == rooms - NOT_STRICT


def test_only_kernels_of_operators_lack_annotations() -> None:
    bare = []
    for path in repository_files("engine/ops/*.py"):
        for function in _bare_functions(ast.parse(path.read_text("utf-8"))):
            kernel = function.name == "kernel" or any(map(_defines_operator, function.decorator_list))
            if not kernel:
                bare.append(f"{path.relative_to(ROOT)}:{function.lineno} {function.name}")
    assert bare == []


def test_type_checkers_know_every_attached_python_operator() -> None:
    from engine.tensor.members.operators import OPERATORS

    tree = ast.parse((ROOT / "engine/core/attached.py").read_text("utf-8"))
    known = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert known - {"__getattr__"} == set(OPERATORS)


def test_open_types_of_public_signatures_do_not_grow() -> None:
    """Some of Paddle's are open; a parameter that is a tensor is an ``AnyTensor`` or ``TensorLike``."""
    found = open_types()
    grown = {
        room: count
        for room, (count, _) in found.items()
        if room not in NOT_COUNTED and count > MOST_OPEN.get(room, 0)
    }
    assert grown == {}
