"""The kernels that eager calls of large arrays take: NumPy's at first, then compiled ones, as plans do.

Calls of one operator with inputs of the same shapes and dtypes and the same attributes are a *kind*. A kind
follows the rule of plans (:class:`engine.kernels.choice.Gate`): it has as many calls on NumPy as a plan has
runs, and the next one waits for what is not compiled. Each thread counts its own calls, and ``seed`` begins
to count anew, so which kernel computes depends on what a program calls alone, never on the clock.

A call costs a look at a table, about half a microsecond; a function of each operator's own does it.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from engine.core.operators import opdef as definitions
from engine.core.operators.opdef import OpDef
from engine.kernels import choice
from engine.kernels.choice import Gate
from engine.program.run.kernels import Call, Kernels, Specs, specs_of

# Calls of a kind before its kernel is requested: sizes that hardly ever return cost no compilation.
BEGIN = 10
# Kinds of a thread of which calls are remembered: the last so many, and up to twice as many.
MOST = 512
# Trainings and other contexts with gates of their own whose calls a thread remembers: the last so many.
GATES = 4


class Report(NamedTuple):
    """One kind of calls: the operator, its inputs, how many calls were counted, and whose kernel is called
    now ("numpy", "fast" or "compiling"), with the reason where it is NumPy's (a key of
    :data:`engine.program.run.explain.WHY`)."""

    name: str
    specs: tuple[Specs, ...]
    calls: int
    kernel: str
    why: str


def _plain(opdef: OpDef) -> Callable[..., Any]:
    """NumPy's kernel, which here is never a plain ufunc."""
    return opdef.overrides.get("cpu", (opdef.kernel, False))[0]


class _Kind:
    """Calls that are alike; ``call`` takes their arrays."""

    __slots__ = ("_attrs", "_gate", "_kernels", "_opdef", "_specs", "call", "calls")

    def __init__(self, opdef: OpDef, attrs: Mapping[str, Any], arrays: Sequence[Any], gate: Gate) -> None:
        self._opdef, self._attrs, self._gate = opdef, dict(attrs), gate
        self._specs = [specs_of(x) for x in arrays]
        self._kernels: Kernels | None = None
        self.calls = 0
        self.call: Callable[..., Any] = self._count

    def _plain(self) -> Callable[..., Any]:
        return partial(_plain(self._opdef), np, **self._attrs)

    def _count(self, *arrays: Any) -> Any:
        """A call before compiled kernels are requested."""
        self.calls += 1
        if self._gate.is_open and self.calls < min(BEGIN, self._gate.runs + 1):
            return self._plain()(*arrays)
        if self._is_valid():
            self._ask()
        else:
            self.call = self._plain()  # which raises what is wrong
        return self.call(*arrays)

    def _is_valid(self) -> bool:
        """Whether shape inference agrees with the inputs: compiled kernels do not check them."""
        try:
            self._opdef.infer_specs(self._specs, self._attrs)
        except Exception:
            return False
        return True

    def _ask(self) -> None:
        made = Kernels(np, "cpu", {}, foreign=False)
        made.runs = itertools.count(self.calls)
        made.add(Call("kernel", self._opdef, self._attrs, self._specs, None, True))
        if made.takes_fast(self._opdef, self._specs):
            made.ask()
        self._kernels = made
        if made.is_requested:
            self.call = self._wait
        else:
            self.call = self._plain()

    def _wait(self, *arrays: Any) -> Any:
        """A call while compiled kernels are on their way."""
        made = self._kernels
        assert made is not None
        if made.due:
            made.before_run()
        if made.swapped:
            self.call = made.calls[0].fast.kernel
        elif self._gate.is_open and not made.due:  # there is none
            self.call = self._plain()
        else:
            return self._plain()(*arrays)
        return self.call(*arrays)

    def report(self) -> Report:
        """Whose kernel is called."""
        whose, why = "numpy", ""
        if self._kernels is not None:
            call = self._kernels.calls[0]
            whose, why = self._kernels.whose(call), self._kernels.why_numpy(call)
        return Report(self._opdef.name, tuple(self._specs), self.calls, whose, why)


class _Table:
    """The kinds of one thread under one gate. Of those that are not called for long, the oldest go."""

    __slots__ = ("_before", "gate", "kinds")

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.kinds: dict[Any, _Kind] = {}
        self._before: dict[Any, _Kind] = {}

    def find(self, key: Any, opdef: OpDef, attrs: Mapping[str, Any], arrays: Sequence[Any]) -> _Kind:
        """The kind that is not among the ones called last."""
        if len(self.kinds) >= MOST:
            self.kinds, self._before = {}, self.kinds
        found = self._before.pop(key, None)
        if found is None:
            found = _Kind(opdef, attrs, arrays, self.gate)
        self.kinds[key] = found
        return found

    def __iter__(self) -> Iterator[_Kind]:
        return itertools.chain(self._before.values(), self.kinds.values())


class _Here(threading.local):
    """The tables of this thread, by gate; ``table`` is the one used last."""

    def __init__(self) -> None:
        self.tables: dict[Gate, _Table] = {}
        self.table: _Table | None = None

    def switch(self, gate: Gate) -> _Table:
        """Use the table of another gate. Of those that are not the process's own, the oldest goes."""
        found = self.tables.get(gate)
        if found is None:
            choice.wants_fast()  # raises for a choice that does not exist, or can't be had
            found = self.tables[gate] = _Table(gate)
            others = [each for each in self.tables if each not in (choice.counting, choice.at_once)]
            for each in others[:-GATES]:
                del self.tables[each]
        self.table = found
        return found


_here = _Here()
_kernels, _gate = choice.kernels.get, choice.gate.get


def table() -> _Table | None:
    """The table of this thread and its gate; None where NumPy's kernels are chosen."""
    chosen = _kernels()
    if chosen == "numpy":
        return None
    gate = _gate() or (choice.at_once if chosen == "fast" else choice.counting)
    found = _here.table
    return found if found is not None and found.gate is gate else _here.switch(gate)


def restart() -> None:
    """Count the calls of this thread anew: the program begins something that is to repeat."""
    _here.__init__()  # type: ignore[misc]


def reports() -> list[Report]:
    """Whose kernels eager calls of this thread take now, one entry a kind, in the order of first calls."""
    return [kind.report() for kinds in _here.tables.values() for kind in kinds]


# -- the functions that look -------------------------------------------------------------------------------
_NESTED = (list, tuple)


def _frozen(value: Any) -> Any:
    """An attribute that is a list as part of a key."""
    return tuple([_frozen(each) if type(each) in _NESTED else each for each in value])


def _listed(arrays: Any) -> Any:
    return None if arrays is None else tuple([None if a is None else (a.shape, a.dtype) for a in arrays])


@definitions.eager_kernel.define
@cache
def eager_kernel(opdef: OpDef) -> Callable[..., Any]:
    """The kernel that eager calls of large arrays call, with the signature of the operator's own."""
    scope: dict[str, Any] = {"table": table, "opdef": opdef, "plain": partial(_plain, opdef)}
    scope |= {"frozen": _frozen, "listed": _listed}
    exec(compile(_source(opdef), f"<eager kernel of {opdef.name}>", "exec"), scope)
    made: Callable[..., Any] = scope["large"]
    return made


def _source(opdef: OpDef) -> str:
    names, attributes = list(opdef.input_names), list(opdef.attributes)
    key = ["opdef"]
    for each in opdef.inputs:
        n = each.name
        if each.is_list:
            key.append(f"listed({n})")
        elif each.optional:
            key.append(f"None if {n} is None else ({n}.shape, {n}.dtype)")
        else:
            key += [f"{n}.shape", f"{n}.dtype"]
    key += [f"frozen({n}) if type({n}) is list else {n}" for n in attributes]
    given = ", ".join(names)
    named = "".join(f", {n}={n}" for n in attributes)
    attrs = ", ".join(f"{n!r}: {n}" for n in attributes)
    star = ", *, " + ", ".join(attributes) if attributes else ""
    optional = [f"{i.name}=None" if i.optional else i.name for i in opdef.inputs]
    return "\n".join(
        (
            f"def large(xp, {', '.join(optional)}{star}):",
            " here_ = table()",
            f" if here_ is None: return plain()(xp, {given}{named})",
            f" key_ = {', '.join(key)}",
            " kind_ = here_.kinds.get(key_)",
            f" if kind_ is None: kind_ = here_.find(key_, opdef, {{{attrs}}}, ({given},))",
            f" return kind_.call({given})",
            "",
        )
    )
