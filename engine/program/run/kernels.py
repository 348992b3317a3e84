"""The kernels that a plan calls: NumPy's in its first runs, then compiled ones."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from engine.core.operators.opdef import OpDef
from engine.core.spans import timed, watch
from engine.core.values.bfloat import wrapped
from engine.core.values.spec import Spec
from engine.kernels.choice import gate_now, wants_fast
from engine.program.run.listing import name_with_parts

Array: TypeAlias = Any
Specs: TypeAlias = "Spec | list[Specs] | None"
"""An input's Spec, those of a list, None for one that is absent."""


@dataclass(slots=True, eq=False)
class Call:
    """One operator of a plan, and how the plan's source calls its kernel: by the global ``name``.

    ``low`` marks the outputs that are bfloat16 where any value is, else it is None. ``bound``: attributes and
    array module are bound to the kernel, so that a compiled one can take its place. ``declined`` is the
    reason why the maker gave none: see :data:`engine.program.run.explain.WHY`. ``fixed``: all inputs but the
    first are constants of the plan, or absent. ``chain`` is the chain that it is part of.
    """

    name: str
    opdef: OpDef
    attrs: Mapping[str, Any]
    specs: Sequence[Any]
    low: list[bool] | None
    bound: bool
    fast: Any = None  # the Fast that the maker gave
    declined: str = ""
    fixed: bool = False
    chain: CallOfChain | None = None

    @property
    def says(self) -> str:
        """The name in a profile."""
        return name_with_parts(self.opdef.name, self.attrs)

    def kernel(self, xp: ModuleType, backend: str, fast: bool) -> Callable[..., Any]:
        """The function that the plan calls now; timed while a profiler records."""
        if fast and self.fast is not None:
            kernel: Callable[..., Any]
            kernel = self.fast.fixed() if self.fixed and self.fast.fixed else self.fast.kernel
            return kernel if watch.recorder is None else timed(self.says, kernel, backend, attrs=self.attrs)
        if self.low is not None:
            return wrapped(self.opdef, xp, self.low, dict(self.attrs))
        kernel, direct = self.opdef.kernel_for(backend, self.says)
        return partial(kernel, xp, **self.attrs) if self.bound and not direct else kernel


@dataclass(slots=True, eq=False)
class CallOfChain:
    """A chain of a plan (``fusion/chains.py``): the source calls it by the global ``name`` unless that is
    None; ``make`` gives its code or None."""

    name: str
    make: Callable[[], Any]
    made: Any = None


class Kernels:
    """All calls of a plan.

    ``due``: call :meth:`before_run` before the next run. ``whole`` is the kernel that replaces all calls,
    once it is taken; :meth:`make_whole` has it made.
    """

    def __init__(self, xp: ModuleType, backend: str, namespace: dict[str, Any], foreign: bool) -> None:
        self._xp, self._backend, self._namespace = xp, backend, namespace
        # The meter of an untrusted Program knows what NumPy's kernels need.
        self._fast = backend == "cpu" and not foreign and wants_fast()
        self._foreign = foreign
        self.calls: list[Call] = []
        self._chains: list[CallOfChain] = []
        self._together: list[tuple[Sequence[Call], Callable[[Any], None]]] = []
        self.runs = itertools.count(1)  # the number of the next run
        self.due = False
        self.swapped = False
        self.whole: Any = None
        self.came = threading.Event()  # all requested kernels are ready, or never will be
        self._gate = gate_now()
        self._requested = False
        self._compiler: Any = None  # which was asked for the kernels
        self._whole_maker: Callable[[], Any] | None = None
        self._made_whole: Any = None

    def add(self, call: Call) -> None:
        """Let the plan's source call the kernel of an operator by a global name."""
        self.calls.append(call)
        self._namespace[call.name] = call.kernel(self._xp, self._backend, False)

    @property
    def may_be_fast(self) -> bool:
        """Whether compiled kernels may come."""
        return self._fast

    def join(self, name: str, calls: Iterable[Call], make: Callable[[], Any]) -> None:
        """Let compiled code that ``make`` gives, called in the compiler's thread, replace these calls."""
        chain = CallOfChain(name, make)
        self._chains.append(chain)
        self._namespace[name] = None
        for call in calls:
            call.chain = chain

    def add_together(self, calls: Sequence[Call], follow: Callable[[Any], None]) -> None:
        """Call ``follow`` with one kernel for several calls, or None, whenever their kernels change."""
        self._together.append((calls, follow))

    def make_whole(self, maker: Callable[[], Any]) -> None:
        """Have a kernel made that replaces all calls: ``maker``, called in the compiler's thread, gives it
        with its ``handle``, or None."""
        self._whole_maker = maker

    def takes_fast(self, opdef: OpDef, specs: Sequence[Any]) -> bool:
        """Whether a compiled kernel may come for an operator with such inputs."""
        return self._fast and _has_maker(opdef) and _all_known(specs)

    def follow(self) -> None:
        """Let the plan call kernels as operators give them now."""
        for call in self.calls:
            self._namespace[call.name] = call.kernel(self._xp, self._backend, self.swapped)
        for chain in self._chains:  # a profiler sees the operators one by one
            self._namespace[chain.name] = chain.made if self.swapped and watch.recorder is None else None
        for calls, follow in self._together:
            makers = {None if call.fast is None else call.fast.together for call in calls}
            one = makers.pop() if len(makers) == 1 and self.swapped and watch.recorder is None else None
            follow(None if one is None else one([call.fast.kernel for call in calls]))

    def ask(self) -> None:
        """Ask for compiled kernels, where any call may have one; they come in the background."""
        self._requested = self._fast and (
            self._whole_maker is not None or bool(self._chains) or any(call.bound for call in self.calls)
        )
        if not self._requested:
            return
        self._gate.asked = True
        if not self._gate.is_open:
            self._gate.add(self)
        elif self._gate.runs:
            self.due = True
        else:
            self.begin()
            self.due = self._gate.wait(self)

    def before_run(self) -> None:
        """Count a run that begins. The second one has kernels compiled; the one that the gate says takes
        them, and waits for them: which kernels compute a run never depends on the clock."""
        run = next(self.runs)
        if run > self._gate.runs:
            self.begin()
            there = self._gate.wait(self)
            self.due = False
            if there:
                self.swap()
        elif run > 1:
            self.begin()

    def begin(self) -> None:
        """Have them compiled, and the words of random numbers, which any operator may draw; once, and anew in
        a forked child, which has no compiling thread."""
        from engine.kernels.fast import compile_random_words
        from engine.kernels.fast.compiler import compiler

        if self._compiler is compiler():
            return
        self._compiler, came = compiler(), threading.Event()
        self.came = came
        compile_random_words()
        self._compiler.submit(partial(self._make, [c for c in self.calls if c.bound], came), came.set)

    def _make(self, calls: Sequence[Call], came: threading.Event) -> None:
        """In the compiler's thread: queue the requests of the makers, then check for answers."""
        from engine.kernels.fast.compiler import compiler, load, log_failure, log_problem

        if why := load():
            log_problem(why)
            for call in calls:
                call.declined = "broken"
            came.set()
            return
        made, whole = [], None
        if self._whole_maker is not None:
            try:
                whole = self._whole_maker()
            except Exception as error:  # a fault of the generator: the operators stay apart
                log_failure(error, "a plan as a whole")
        for call in calls if whole is None else ():
            try:
                fast = call.opdef.fast(call.specs, call.attrs) if call.opdef.fast is not None else None
            except Exception as error:  # a fault of the generator: NumPy stays
                log_failure(error, f"{call.opdef.name} {list(call.specs)}")
                call.declined = "failed"
                continue
            if fast is not None:
                made.append((call, fast))
            else:
                call.declined = "as good"
        joined = []
        for chain in self._chains:
            try:
                joined.append((chain, chain.make()))
            except Exception as error:  # a fault of the generator: the operators stay apart
                log_failure(error, "a chain of operators")
        compiler().submit(partial(self._arrived, made, joined, whole, came), came.set)

    def _arrived(
        self,
        made: Sequence[tuple[Call, Any]],
        joined: Sequence[tuple[CallOfChain, Any]],
        whole: Any,
        came: threading.Event,
    ) -> None:
        for call, fast in made:
            call.declined = _declined(call, fast)
            if not call.declined:
                call.fast = fast
        for chain, code in joined:
            if code is not None and all(handle.address is not None for handle in code.handles):
                code.complete()
                chain.made = code
        if whole is not None and whole.handle.address is not None:
            self._made_whole = whole
        came.set()

    @property
    def is_requested(self) -> bool:
        """Whether any call may have a compiled kernel, which then was asked for or will be."""
        return self._requested

    def names(self) -> list[str]:
        """The operators that have compiled kernels, and "whole" where one kernel replaces all."""
        names = {call.opdef.name for call in self.calls if _is_compiled(call)}
        return sorted(names | ({"whole"} if self._made_whole is not None else set()))

    def swap(self) -> None:
        """From the next call on use the compiled kernels."""
        self.swapped, self.whole = True, self._made_whole
        self.follow()

    def report(self) -> list[tuple[str, str]]:
        """Each operator's name, and whose kernel it calls; see :meth:`Plan.kernels`."""
        return [(call.opdef.name, self.whose(call)) for call in self.calls]

    def whose(self, call: Call) -> str:
        """Whose kernel the plan calls now: "numpy", "fast" or "compiling"."""
        compiled, wanted = _is_compiled(call), call.bound or call.chain is not None
        if self.swapped or not (self._requested and wanted) or (self.came.is_set() and not compiled):
            return "fast" if self.swapped and compiled else "numpy"
        return "compiling"

    def why_numpy(self, call: Call) -> str:
        """Why NumPy computes a call: a key of :data:`engine.program.run.explain.WHY`, empty where it does not
        or a compiled kernel is on its way."""
        if self.whose(call) != "numpy" or _is_compiled(call):
            return ""
        if not self._fast:
            return "foreign" if self._foreign else _off(self._backend)
        if not _has_maker(call.opdef):
            return "none"
        if call.low is not None:
            return "bfloat16"
        return call.declined or ("sizes" if not _all_known(call.specs) else "")


def _is_compiled(call: Call) -> bool:
    return call.fast is not None or (call.chain is not None and call.chain.made is not None)


def _has_maker(opdef: OpDef) -> bool:
    from engine.kernels.fast import maker_of

    return maker_of(opdef) is not None


def _declined(call: Call, fast: Any) -> str:
    """Why a call does not take a kernel whose code was compiled: a key of ``WHY``, empty where it does."""
    from engine.kernels.fast.compiler import log_failure

    if not fast.ready:
        return "failed"
    try:
        return "" if fast.pays() else "as good"
    except Exception as error:  # such as no memory to measure: NumPy stays
        log_failure(error, f"{call.opdef.name} {list(call.specs)}")
        return "failed"


class OneCall:
    """The kernel of one operator that is called again and again outside of a plan, on the CPU.

    It takes the inputs' arrays; attributes are bound in.
    """

    def __init__(self, opdef: OpDef, attrs: Mapping[str, Any], arrays: Sequence[Any]) -> None:
        self.attrs = dict(attrs)
        self._namespace: dict[str, Any] = {}
        self._kernels = Kernels(np, "cpu", self._namespace, foreign=False)
        specs = [specs_of(x) for x in arrays]
        self._kernels.add(Call("kernel", opdef, self.attrs, specs, None, True))
        if self._kernels.takes_fast(opdef, specs):
            self._kernels.ask()
        _outside.add(self._kernels)

    def __call__(self, *arrays: Any) -> Any:
        if self._kernels.due:
            self._kernels.before_run()
        return self._namespace["kernel"](*arrays)

    @property
    def name(self) -> str:
        """The operator's name."""
        return self._kernels.calls[0].opdef.name

    def report(self) -> str:
        """Whose kernel it is; see :meth:`Plan.kernels`."""
        return self._kernels.report()[0][1]

    def why_numpy(self) -> str:
        """Why NumPy computes; see :meth:`Kernels.why_numpy`."""
        return self._kernels.why_numpy(self._kernels.calls[0])


_outside: weakref.WeakSet[Kernels] = weakref.WeakSet()


def _follow_recording(_: bool) -> None:
    for each in list(_outside):
        each.follow()


watch.changing.append(_follow_recording)


def _off(backend: str) -> str:
    """Why plans of programs of one's own ask for no compiled kernels."""
    from engine.kernels.fast.compiler import available  # only who asks why

    # A training without llvmlite chooses NumPy itself, so installed packages are checked first.
    return "device" if backend != "cpu" else "chosen" if available() else "absent"


def specs_of(value: Array | list[Array] | None) -> Specs:
    """The Spec of an array, of each in a list; None for an input that is absent."""
    if isinstance(value, list):
        return [specs_of(each) for each in value]
    return None if value is None else Spec.of(value)


def _all_known(specs: Iterable[Any]) -> bool:
    return all(s is None or (s.known if isinstance(s, Spec) else _all_known(s)) for s in specs)
