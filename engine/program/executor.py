"""Executor: runs a Program with what is fed, and gives back what is fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.dtype import from_numpy
from engine.core.errors import ArgumentError, DTypeError, ProgramError, ShapeError
from engine.core.place import Place, as_place, backend, current_place
from engine.core.spec import Spec
from engine.eager.tensor import Tensor, wrap
from engine.program.builder import Builder
from engine.program.plan import Plan
from engine.program.program import Program, Variable

_default_main = [Program()]


def default_main_program() -> Program:
    """The Program that operators are appended to in static mode."""
    return _default_main[0]


@contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Within the block operators are appended to ``main_program``."""
    before = _default_main[0]
    _default_main[0] = main_program
    try:
        if modes.is_static():
            with modes.use(Builder(main_program)):
                yield
        else:
            yield
    finally:
        _default_main[0] = before


class Executor:
    """Compiles each Program once for each kind of feed, and runs it."""

    def __init__(self, place: Any = None) -> None:
        self.place: Place = current_place() if place is None else as_place(place)

    def run(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Sequence[Any] | None = None,
        return_numpy: bool = True,
    ) -> list[Any]:
        """Run ``program`` (default: the main one); returns the values of ``fetch_list``, Variables or names.

        ``feed`` gives arrays or Tensors by the names of data Variables. Results are copies.

        Raises ProgramError for a fetch that is not there, ArgumentError, ShapeError or DTypeError for a feed
        that is missing, unknown or does not fit.
        """
        program = program if program is not None else default_main_program()
        block = program.global_block()
        fetched = [block.var(f if isinstance(f, str) else f.name) for f in fetch_list or ()]
        data = {v.name: v for v in block.vars.values() if v.is_data}
        xp = backend(self.place).xp
        arrays = {name: self._fed(name, value, data, xp) for name, value in (feed or {}).items()}
        key = (
            program.version, tuple(v.name for v in fetched),
            tuple((n, a.shape, a.dtype.str) for n, a in arrays.items()), self.place,
        )  # fmt: skip
        found = program.plans.get(key)
        if found is None:
            found = program.plans[key] = self._compile(program, arrays, data, fetched, xp)
        plan, bound = found
        results = plan([*arrays.values(), *[v.tensor._array for v in bound]])
        if return_numpy:
            return [np.asarray(r if isinstance(r, (np.ndarray, np.generic)) else r.get()) for r in results]
        return [wrap(xp.asarray(r)) for r in results]

    def _fed(self, name: str, value: Any, data: Mapping[str, Variable], xp: Any) -> Any:
        variable = data.get(name)
        if variable is None:
            raise ArgumentError(
                f"Executor.run: feed has {name!r}: the Program takes {sorted(data)}; remove or rename it"
            )
        array = xp.asarray(value._array if isinstance(value, Tensor) else value)
        if array.dtype != variable.dtype.np:
            raise DTypeError(
                f"Executor.run: feed {name!r} has dtype {array.dtype}: the Program says {variable.spec}; "
                f"convert it with astype({variable.dtype.name!r})"
            )
        fits = len(array.shape) == variable.ndim and all(
            e in (-1, d) for d, e in zip(array.shape, variable.shape, strict=True)
        )
        if not fits:
            raise ShapeError(
                f"Executor.run: feed {name!r} has shape {list(array.shape)}: "
                f"the Program says {variable.spec}; reshape it"
            )
        return array

    def _compile(
        self,
        program: Program,
        arrays: Mapping[str, Any],
        data: Mapping[str, Variable],
        fetched: list[Variable],
        xp: Any,
    ) -> tuple[Plan, list[Variable]]:
        from engine.program.liveness import arguments, needed

        ops = program.global_block().ops
        read = {id(v): v for o in needed(ops, fetched) for v in arguments(o)} | {id(v): v for v in fetched}
        missing = [n for n, v in data.items() if id(v) in read and n not in arrays]
        if missing:
            raise ArgumentError(
                f"Executor.run: the Program needs {missing}, which feed does not give; add them to feed"
            )
        bound = [v for v in program.bound() if id(v) in read]
        unbound = [v.name for v in read.values() if v.persistable and v.tensor is None]
        if unbound:
            raise ProgramError(
                f"Executor.run: {unbound[:5]} have no value yet; run the startup program or load them first"
            )
        feeds = {n: Spec(a.shape, from_numpy(a.dtype)) for n, a in arrays.items()}
        inputs = [*(data[n] for n in arrays), *bound]
        return Plan(program, ops, inputs, fetched, feeds, xp), bound

    def close(self) -> None:
        """Accepted for Paddle's sake; plans belong to their Programs."""
