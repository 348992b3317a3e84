"""Executor: runs a Program with feeds and returns the fetched values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from engine.core import mode as modes
from engine.core.context import Setting
from engine.core.errors import ArgumentError, DTypeError, ProgramError, ShapeError
from engine.core.operators.operator import Operator
from engine.core.place import Place, PlaceLike, as_place, backend, current_place, fetched, moved
from engine.core.values.bfloat import adopt, converted
from engine.eager.tensor import Tensor, counter_of, wrap
from engine.program.build.builder import Builder
from engine.program.graph.program import Program, Variable
from engine.program.passes.pipeline import level
from engine.program.run.lod_tensor import LoDTensor, joined, with_lengths, with_levels
from engine.program.run.scope import Scope, global_scope

_defaults = Setting("default_programs", (Program(), Program()))


def default_main_program() -> Program:
    """The Program that operators are appended to in static mode."""
    return _defaults.get()[0]


def default_startup_program() -> Program:
    """The Program that gives the parameters of the main one their first values."""
    return _defaults.get()[1]


def process_builder() -> Builder:
    """The mode of static graphs for the whole process: it appends to the Programs outside of guards."""
    main, startup = _defaults.process
    return Builder(main, startup=startup)


def guarded_builder() -> Builder | None:
    """The mode of static graphs within ``program_guard``; None outside of it, where the process's serves."""
    if not _defaults.is_guarded():
        return None
    main, startup = _defaults.get()
    return Builder(main, startup=startup)


@contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Append operators to ``main_program`` and initializers to ``startup_program`` within the block.

    The guard affects only the context that entered it: another thread may build another Program meanwhile.
    Raises DTypeError for a value that is not a Program.
    """
    for name, program in (("main_program", main_program), ("startup_program", startup_program)):
        if not isinstance(program, Program) and (program is not None or name == "main_program"):
            raise DTypeError(
                f"program_guard: {name} must be a Program: got {type(program).__name__}; use static.Program()"
            )
    startup = startup_program or default_startup_program()
    guard = _defaults.guard((main_program, startup))
    if modes.is_static():
        with guard, modes.use(Builder(main_program, modes.current().grad, startup=startup)):
            yield
        return
    try:
        with guard:
            yield
    finally:
        _leave_static(main_program)


def _leave_static(main_program: Program) -> None:
    """Build in the outer Program again where static mode was switched on within this guard."""
    mode = modes.variable.get()
    if isinstance(mode, Builder) and mode.startup is not None and mode.program is main_program:
        modes.variable.set(guarded_builder())


class WrapsProgram(Protocol):
    """A CompiledProgram."""

    @property
    def _program(self) -> Program: ...


class Executor:
    """Compiles each Program once for each kind of feed, and runs it."""

    def __init__(self, place: PlaceLike | None = None) -> None:
        self.place: Place = current_place() if place is None else as_place(place)
        self._device = self.place.device  # hashed in each run, which is faster than hashing the place
        self._closed = False

    def run(
        self,
        program: Program | WrapsProgram | None = None,
        feed: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        fetch_list: str | Variable | Sequence[Any] | None = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_program_cache: bool = False,
        use_prune: bool = False,
    ) -> list[Any]:
        """Run ``program`` (default: the main one); returns the values of ``fetch_list``, Variables or names.

        Lists within ``fetch_list`` are taken apart; results of ``minimize`` run and fetch nothing.
        ``feed`` gives arrays or Tensors by the names of data Variables; lists and numbers take the Variable's
        dtype. A Program ``with_data_parallel`` also takes a list of dicts, one for each device, which are one
        batch here: they are joined along the first dimension. Parameters and other persistable Variables have
        their values in ``scope`` (the global one by default). Operators that nothing depends on are not run.
        LoDTensors in ``feed`` give their lengths, too. With ``return_numpy`` false results are Tensors, or
        LoDTensors of a Program on sequences. Results are copies. Readers of the Program (those that are not
        iterable) give a batch at each run.

        Raises ProgramError for an unknown fetch or a parameter without a value, ArgumentError,
        ShapeError or DTypeError for a feed that is missing, unknown or does not fit, EOFException after the
        last batch of a reader, ModeError where ``return_numpy`` would lose the lengths of a result.
        """
        if self._closed:
            raise ProgramError("Executor.run: this executor is closed; create another one")
        parallel = getattr(program, "_parallel", None) is not None
        program = _program_of(program)
        feeds = _feeds_of(_joined(feed) if parallel else feed)
        for reader in program.readers:
            feeds = reader.feed(feeds)
        if LoDTensor in map(type, feeds.values()):
            feeds = with_levels(program, feeds)
        wanted: Sequence[Any] = [fetch_list] if isinstance(fetch_list, (str, Variable)) else fetch_list or ()
        if any(isinstance(f, _NESTED) for f in wanted):
            wanted = list(_flat(wanted))
        key = (
            program.version,
            tuple([fetch_key(f) for f in wanted]),
            tuple(feeds),
            self._device,
            level.get(),
        )
        prepared = program.calls.get(key)
        if prepared is None:
            from engine.program.run.prepared import prepare  # with the first run, not with the engine

            prepared = program.calls.ensure(key, partial(prepare, program, feeds, key[1]))
        xp = backend(self.place).xp
        arrays = [fed(v, feeds[v.name], xp) for v in prepared.fed]
        shaped = (prepared, tuple([a.shape for a in arrays]))
        compiled = program.plans.get(shaped)
        if compiled is None:
            from engine.program.run.prepared import compile_plan

            compiled = program.plans.ensure(shaped, partial(compile_plan, prepared, arrays, xp))
        scope = scope or global_scope()
        for rate in program.rates:
            rate.bring(scope)
        results = compiled.plan([*arrays, *values_of(compiled.read, scope, xp)])
        compiled.plan.settle(partial(_tensor_of, scope))
        for tensor in compiled.noted:
            counter_of(tensor).count += 1
        count = len(prepared.fetched)
        if compiled.copied:
            results = tuple([r.copy() if n in compiled.copied else r for n, r in enumerate(results)])
        for variable, array in zip(compiled.stored, results[count:], strict=True):
            _store(variable, array, scope)
        asked = results[:count]
        if prepared.sources is not None:
            return with_lengths(prepared.sources, asked, feeds, return_numpy)
        if return_numpy:
            return [np.asarray(r if isinstance(r, (np.ndarray, np.generic)) else fetched(r)) for r in asked]
        return [wrap(adopt(xp.asarray(r))) for r in asked]

    def flush(self) -> None:
        """Nothing: values are in the scope after each run, not in trainers of their own."""

    def close(self) -> None:
        """Refuse further runs; plans belong to their Programs."""
        self._closed = True


def _program_of(program: Program | WrapsProgram | None) -> Program:
    """The Program to run: the default one, or the one that a CompiledProgram wraps."""
    if program is None:
        return default_main_program()
    found = getattr(program, "_program", program)
    if not isinstance(found, Program):
        raise DTypeError(
            f"Executor.run: program must be a Program: got {type(program).__name__}; "
            "pass e.g. static.default_main_program()"
        )
    return found


def _feeds_of(feed: Any) -> Mapping[str, Any]:
    if isinstance(feed, (list, tuple)) and len(feed) == 1:
        feed = feed[0]
    if feed is None:
        return {}
    if not isinstance(feed, Mapping):
        raise DTypeError(
            f"Executor.run: feed must be a dict of values by name: got {type(feed).__name__}; "
            "pass e.g. {'x': array}"
        )
    return feed


def _joined(feed: Any) -> Any:
    """The parts of a batch for several devices as one, since a process has one device.

    Raises ArgumentError for parts of different names.
    """
    if not isinstance(feed, (list, tuple)) or not all(isinstance(part, Mapping) for part in feed):
        return feed
    if not feed:
        return {}
    if len({frozenset(part) for part in feed}) > 1:
        raise ArgumentError(
            f"Executor.run: the dicts of feed have different names: {[sorted(part) for part in feed[:3]]}; "
            "feed each device the same Variables"
        )
    return {name: joined([part[name] for part in feed]) for name in feed[0]}


_NESTED = (list, tuple, Operator)


def _flat(wanted: Iterable[Any]) -> Iterator[Any]:
    """Flatten a nested ``fetch_list``; operators, and pairs from ``minimize``, fetch nothing."""
    for item in wanted:
        if isinstance(item, (list, tuple)):
            minimized = len(item) == 2 and isinstance(item[0], list) and isinstance(item[1], list)
            if not (minimized and all(isinstance(each, Operator) for each in item[0])):
                yield from _flat(item)
        elif not isinstance(item, Operator):
            yield item


def fetch_key(fetch: object) -> str:
    """The name of a fetched object. Raises DTypeError for an object without a name."""
    if isinstance(fetch, str):
        return fetch
    if isinstance(fetch, Variable):
        return fetch.name
    if isinstance(fetch, Tensor):
        return fetch.name
    raise DTypeError(
        f"Executor.run: fetch_list holds {type(fetch).__name__}: it takes Variables and their names"
    )


def fed(variable: Variable, value: object, xp: ModuleType) -> Any:
    """The array for a data Variable. Raises DTypeError or ShapeError for one that does not fit."""
    spec = variable.spec
    if isinstance(value, Tensor):
        array = moved(xp, value._array)
    elif isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "__array__"):
        array = xp.asarray(value)
    else:
        array = converted(xp, xp.asarray(value), spec.dtype, copy=False)
    if array.dtype != spec.dtype.np:
        raise DTypeError(
            f"Executor.run: feed {variable.name!r} has dtype {array.dtype}: the Program expects {spec}; "
            f"convert it with astype({spec.dtype.name!r})"
        )
    if array.shape != spec.shape and not (
        array.ndim == spec.ndim and all(e in (-1, d) for d, e in zip(array.shape, spec.shape, strict=True))
    ):
        raise ShapeError(
            f"Executor.run: feed {variable.name!r} has shape {list(array.shape)}: "
            f"the Program expects {spec}; reshape it"
        )
    return array


def values_of(variables: Sequence[Variable], scope: Scope, xp: ModuleType) -> list[Any]:
    """The arrays of persistable Variables. Raises ProgramError for one without a value, ShapeError for one
    of another shape."""
    arrays = []
    for variable in variables:
        tensor = variable.tensor
        if tensor is None:
            found = scope.find_var(variable.name)
            tensor = None if found is None else found.tensor
            if tensor is None:
                raise ProgramError(
                    f"Executor.run: {variable.name!r} {variable.spec} has no value yet; run the startup "
                    "program or load the parameters first"
                )
        # Values loaded from a file, or left on another device, move to this executor's place.
        if isinstance(tensor._array, np.ndarray) is not (xp is np):
            tensor._array = adopt(moved(xp, tensor._array))
        array = tensor._array
        if array.shape != variable.spec.shape and -1 not in variable.spec.shape:
            raise ShapeError(
                f"Executor.run: {variable.name!r} has shape {list(array.shape)} in the scope: the Program "
                f"says {variable.spec}; run its startup program, or load values that belong to it"
            )
        arrays.append(array)
    return arrays


def _tensor_of(scope: Scope, variable: Variable) -> Any:
    """The tensor of a persistable Variable."""
    if variable.tensor is not None:
        return variable.tensor
    found = scope.find_var(variable.name)
    return None if found is None else found.tensor


def _store(variable: Variable, array: Any, scope: Scope) -> None:
    array = np.asarray(array) if isinstance(array, np.generic) else array
    if variable.tensor is not None:
        variable.tensor._array = array
    else:
        (scope.find_var(variable.name) or scope.var(variable.name)).store(array)
