"""The kernel of ``fused_elementwise``: source that is written once for each list of steps.

Large arrays of one layout are computed block by block, so that the result of a step is still in
the cache when the next one reads it. Others are computed whole, step by step. The layout of results is found
in a first call, which runs step by step: NumPy decides it from the strides of all operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.core.operators.opdef import OPS
from engine.kernels.cpu.cut import Cut

# The name of an operator, the numbers of the values that it reads, its attributes.
Steps = tuple[tuple[str, tuple[int, ...], tuple[tuple[str, Any], ...]], ...]
Function = Callable[..., tuple[Any, ...]]

# Elements from which blocks pay: the cache of the third level gives smaller arrays as fast (decision 0092).
LARGE = 1 << 20
# Layouts of inputs whose source is cached; shapes may vary for as long as a program runs.
_LAYOUTS = 64


class Loop:
    """Computes ``steps`` on inputs."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self._whole: dict[Any, Function] = {}  # by array module, outputs and number of inputs
        # By outputs, and shapes, strides and dtypes of the inputs; None where they are not cut into blocks.
        self._blocked: dict[Any, Function | None] = {}

    def __call__(
        self, xp: Any, xs: Sequence[Any], outputs: tuple[int, ...], out: Sequence[Any] | None = None
    ) -> tuple[Any, ...]:
        """The values of these numbers; ``out`` has arrays to write them into, or None."""
        if xp is np and max([x.size for x in xs]) >= LARGE:
            key = (outputs, tuple([(x.shape, x.strides, x.dtype) for x in xs]))
            blocked = self._blocked.get(key)
            if blocked is not None:
                return blocked(xs, out)
            if key not in self._blocked:
                values = _watched(self.steps, xs)
                if len(self._blocked) >= _LAYOUTS:
                    self._blocked.clear()
                cut = Cut.of(values, len(xs))
                self._blocked[key] = None if cut is None else in_blocks(self.steps, cut, values, outputs)
                return tuple([values[n] for n in outputs])
        form = (xp, outputs, len(xs))
        whole = self._whole.get(form)
        if whole is None:
            whole = self._whole[form] = step_by_step(self.steps, len(xs), outputs, xp)
        return whole(xs, out)


def _watched(steps: Steps, xs: Sequence[Any]) -> list[Any]:
    """The inputs and the result of every step."""
    values = list(xs)
    for name, read, attrs in steps:
        kernel, direct = _kernel(name, np)
        arguments = [values[n] for n in read]
        values.append(kernel(*arguments) if direct else kernel(np, *arguments, **dict(attrs)))
    return values


def step_by_step(steps: Steps, inputs: int, outputs: tuple[int, ...], xp: Any) -> Function:
    """A function that calls one kernel after the other."""
    source = _Source(steps, xp)
    source.line(1, f"{', '.join(f'v{n}' for n in range(inputs))}, = xs")
    last = _last_reads(steps, inputs)
    for n, (name, _, _) in enumerate(steps):
        number = inputs + n
        target = None
        if number in outputs and OPS[name].has_out:
            target = f"None if out is None else out[{outputs.index(number)}]"
        source.line(1, f"v{number} = {source.call(n, 'v', target)}")
        # Freed at once, so that the next result finds memory that is in the cache.
        gone = [f"v{v}" for v in last.get(number, ()) if v >= inputs and v not in outputs]
        if gone:
            source.line(1, f"{' = '.join(gone)} = None")
    source.line(1, f"return {', '.join(f'v{n}' for n in outputs)},")
    return source.function()


def in_blocks(steps: Steps, cut: Cut, values: Sequence[Any], outputs: tuple[int, ...]) -> Function:
    """A function that computes blocks of ``cut``; ``values`` are inputs and results of all steps of a first
    call."""
    inputs = len(values) - len(steps)
    source = _Source(steps, np)
    source.line(1, f"{', '.join(f'v{n}' for n in range(inputs))}, = xs")
    for n in range(len(steps)):  # values that broadcast are computed whole
        if not cut.is_full(inputs + n):
            source.line(1, f"v{inputs + n} = {source.call(n, 'v')}")
    made = [n for n in dict.fromkeys(outputs) if cut.is_full(n) and n >= inputs]
    for n in made:
        given, empty = f"out[{outputs.index(n)}]", source.constant(cut.empty(values[n].dtype))
        source.line(1, f"v{n} = {empty}() if out is None or {given} is None else {given}")
    cut_steps = [n for n in range(len(steps)) if cut.is_full(inputs + n)]
    read = {v for n in cut_steps for v in steps[n][1] if v < inputs or not cut.is_full(v)}
    viewed = sorted({*made, *read})
    for n in viewed:
        source.line(1, f"w{n} = {source.constant(cut.view(n))}(v{n})")
    patterns = list(dict.fromkeys(p for p in map(cut.pattern, viewed) if p is not None))
    index = {pattern: f"i{number}" for number, pattern in enumerate(patterns)}
    source.line(1, f"for {', '.join(index.values())}, in {source.constant(cut.index(patterns))}:")
    for n in viewed:
        pattern = cut.pattern(n)
        source.line(2, f"b{n} = w{n}" + ("" if pattern is None else f"[{index[pattern]}]"))
    _write_block(source, cut, values, made)
    source.line(1, f"return {', '.join(f'v{n}' for n in outputs)},")
    return source.function()


def _write_block(source: _Source, cut: Cut, values: Sequence[Any], made: Sequence[int]) -> None:
    """The steps on one block; arrays that no later step reads are used for results of their dtype."""
    steps = source.steps
    inputs = len(values) - len(steps)
    last = _last_reads(steps, inputs)
    free: list[int] = []
    for n, (name, _, _) in enumerate(steps):
        number = inputs + n
        if not cut.is_full(number):
            continue
        own = (v for v in last.get(number, ()) if v >= inputs and cut.is_full(v) and v not in made)
        free += own
        takes = OPS[name].has_out
        if number in made:
            text = source.call(n, "b", f"b{number}" if takes else None)
            source.line(2, text if takes else f"b{number}[...] = {text}")
            continue
        into = next((v for v in free if takes and values[v].dtype == values[number].dtype), None)
        if into is not None:
            free.remove(into)
        source.line(2, f"b{number} = {source.call(n, 'b', None if into is None else f'b{into}')}")


def _last_reads(steps: Steps, inputs: int) -> dict[int, list[int]]:
    """By value, the values that the step which makes it is the last to read."""
    last = {value: inputs + n for n, (_, read, _) in enumerate(steps) for value in read}
    found: dict[int, list[int]] = {}
    for value, number in last.items():
        found.setdefault(number, []).append(value)
    return found


class _Source:
    """Source of a function of ``xs`` and ``out`` that calls the kernels of steps."""

    def __init__(self, steps: Steps, xp: Any) -> None:
        self.steps = steps
        self._xp = xp
        self._namespace: dict[str, Any] = {"xp": xp}
        self._text = ["def fused(xs, out):"]

    def line(self, depth: int, text: str) -> None:
        self._text.append(" " * depth + text)

    def constant(self, value: Any) -> str:
        """The global name of a value."""
        name = f"c{len(self._namespace)}"
        self._namespace[name] = value
        return name

    def call(self, step: int, prefix: str, out: str | None = None) -> str:
        """The call of a step's kernel; the names of the values that it reads begin with ``prefix``."""
        name, read, attrs = self.steps[step]
        kernel, direct = _kernel(name, self._xp)
        arguments = [f"{prefix}{n}" for n in read]
        if not direct:
            arguments.insert(0, "xp")
            arguments += [f"{key}={self.constant(value)}" for key, value in attrs]
        if out is not None:
            arguments.append(f"out={out}")
        return f"{self.constant(kernel)}({', '.join(arguments)})"

    def function(self) -> Function:
        scope: dict[str, Any] = {}
        exec(compile("\n".join(self._text) + "\n", "<fused>", "exec"), self._namespace, scope)
        made: Function = scope["fused"]
        return made


def _kernel(name: str, xp: Any) -> tuple[Callable[..., Any], bool]:
    """The kernel of an operator, never a timed one, and whether it takes neither module nor attributes."""
    opdef = OPS[name]
    return opdef.overrides.get("cpu" if xp is np else "cupy", (opdef.kernel, False))
