"""Programs as short text, for tests of passes: one line an operator.

::

    x: float32[2, 3]              an input; -1 is an unknown dimension
    w: weight float32[3]          a parameter, with values from a fixed seed
    a = scale(x, scale=2.0)       inputs first (None for an absent one), then attributes
    m, v = two_results(a)
    return a
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.operators.opdef import OPS
from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.eager.tensor import Tensor
from engine.program.build.builder import Builder, variable
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable


def program_of(text: str) -> Program:
    """The Program that ``text`` describes."""
    program = Program()
    program.reserve_names()  # a separate generator
    known: dict[str, Variable] = {}
    with modes.use(Builder(program)):
        for line in filter(None, map(str.strip, text.splitlines())):
            _line(program, known, line)
    return program


def _line(program: Program, known: dict[str, Variable], line: str) -> None:
    if line.startswith("return"):
        program.outputs = [name.strip() for name in line.removeprefix("return").split(",")]
        return
    if ":" in line and "(" not in line:
        name, _, rest = (part.strip() for part in line.partition(":"))
        words, _, shape = rest.partition("[")
        *kind, dtype = words.split()
        known[name] = _given(program, name, bool(kind), Spec(ast.literal_eval("[" + shape), dtype))
        return
    left, _, right = line.partition("=")
    names = [name.strip() for name in left.split(",")]
    call = ast.parse(right.strip(), mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    opdef = OPS[call.func.id]
    inputs = [_input(known, argument) for argument in call.args]
    inputs += [None] * (len(opdef.inputs) - len(inputs))
    attrs = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    made = modes.current().apply(opdef, tuple(inputs), attrs)
    results = made if isinstance(made, tuple) else (made,)
    for name, result in zip(names, results, strict=False):
        if result is None:  # omitted
            continue
        if result.persistable:  # written in place
            known[name] = result
            continue
        del result.block.vars[result.name]
        result.name = name
        result.block.vars[name] = known[name] = result


def _given(program: Program, name: str, weight: bool, spec: Spec) -> Variable:
    if not weight:
        program.inputs.append(name)
        return variable(program, name, spec, stop_gradient=not spec.dtype.is_floating_point)
    rng = np.random.default_rng(len(program.global_block().vars))
    tensor = Tensor(rng.uniform(0.5, 1.5, spec.shape).astype(spec.dtype.np), stop_gradient=False)
    tensor.name, tensor.persistable = name, True
    return program.capture(tensor)


def _input(known: dict[str, Variable], node: ast.expr) -> Any:
    if isinstance(node, ast.List):
        return [_input(known, each) for each in node.elts]
    return None if isinstance(node, ast.Constant) else known[ast.unparse(node)]


def text_of(program: Program) -> str:
    """The operators of the global block and the results of the Program; attributes that are not the
    default."""
    lines = [_text(o) for o in program.global_block().ops]
    return "\n".join([*lines, f"return {', '.join(program.outputs)}"])


def _text(operator: Operator) -> str:
    names = [_name(v) for v in operator.inputs]
    while names and names[-1] == "None":
        names.pop()
    defaults = operator.opdef.attributes
    names += [f"{k}={v!r}" for k, v in operator.attrs.items() if not _same(v, defaults.get(k))]
    outputs = ", ".join(v.name for v in operator.outputs if v is not None and not v.persistable)
    return f"{outputs} = {operator.opdef.name}({', '.join(names)})"


def _same(value: Any, default: Any) -> bool:
    sequences = isinstance(value, (list, tuple)) and isinstance(default, (list, tuple))
    return list(value) == list(default) if sequences else type(value) is type(default) and value == default


def _name(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_name(v) for v in value) + "]"
    return "None" if value is None else str(value.name)


def values_of(program: Program, feeds: dict[str, Any]) -> list[Any]:
    """The results of the Program for these inputs."""
    from engine.jit.run_program import ProgramRunner

    block = program.global_block()
    runner = ProgramRunner(
        program, [block.var(n) for n in program.inputs], [block.var(n) for n in program.outputs]
    )
    return [t.numpy() for t in runner([Tensor(feeds[n]) for n in program.inputs])]
