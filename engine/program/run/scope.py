"""Scopes: the values of persistable Variables by name, which an Executor reads and writes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.core.context import Setting
from engine.core.errors import ArgumentError, DTypeError, ProgramError, ShapeError
from engine.core.place import PlaceLike, as_place, backend, fetched
from engine.core.values.bfloat import adopt
from engine.core.values.dtype import from_numpy
from engine.eager.tensor import Tensor, wrap, write
from engine.program.graph import delegates
from engine.program.graph.delegates import ScopeValues
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable


class ScopeTensor:
    """The value of a scope's variable: ``numpy.array(t)`` copies it, ``set`` replaces it."""

    def __init__(self, variable: ScopeVariable) -> None:
        self._variable = variable

    def _array(self) -> Any:
        tensor = self._variable.tensor
        if tensor is None:
            raise ProgramError(
                f"scope: {self._variable.name!r} has no value yet; run the startup program or set() one"
            )
        return tensor._array

    def set(self, array: delegates.ValueLike, place: PlaceLike | None = None) -> None:
        """Make a copy of ``array`` the value, on ``place`` (the CPU by default)."""
        values = array.numpy() if isinstance(array, Tensor) else np.array(array)
        from_numpy(values.dtype)
        self._variable.store(values if place is None else backend(as_place(place)).xp.asarray(values))

    def shape(self) -> list[int]:
        return list(self._array().shape)

    def _is_initialized(self) -> bool:
        return self._variable.tensor is not None

    def _dtype(self) -> Any:
        return from_numpy(self._array().dtype)

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the value."""
        array = self._array()
        return array.copy() if isinstance(array, np.ndarray) else fetched(array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return repr(self._variable.tensor)


class ScopeVariable:
    """A name in a scope, and the Tensor that holds its value, if it has one yet."""

    __slots__ = ("name", "tensor")

    def __init__(self, name: str) -> None:
        self.name = name
        self.tensor: Tensor | None = None

    def get_tensor(self) -> ScopeTensor:
        return ScopeTensor(self)

    def store(self, array: Any) -> None:
        """Make ``array`` itself the value, without a copy; everything that holds the Tensor sees it."""
        tensor = self.tensor
        if tensor is None:
            self.tensor = wrap(adopt(array))
            self.tensor.name, self.tensor.persistable = self.name, True
        else:
            tensor._array = adopt(array)

    def __repr__(self) -> str:
        return f"<variable {self.name!r}: {'no value yet' if self.tensor is None else self.tensor}>"


class Scope:
    """Values by name. A scope created by ``new_scope`` also sees those of its parent."""

    def __init__(self, parent: Scope | None = None) -> None:
        self._parent = parent
        self._variables: dict[str, ScopeVariable] = {}
        self._kids: list[Scope] = []

    def var(self, name: str) -> ScopeVariable:
        """The variable of this name in this scope itself, created where it is absent."""
        found = self._variables.get(name)
        # setdefault: two threads that ask for it at once get the same one.
        return self._variables.setdefault(name, ScopeVariable(name)) if found is None else found

    def find_var(self, name: str) -> ScopeVariable | None:
        """The variable of this name here or in a parent, else None."""
        scope: Scope | None = self
        while scope is not None:
            found = scope._variables.get(name)
            if found is not None:
                return found
            scope = scope._parent
        return None

    def new_scope(self) -> Scope:
        """A scope within this one."""
        made = Scope(self)
        self._kids.append(made)
        return made

    def drop_kids(self) -> None:
        self._kids.clear()

    def local_var_names(self) -> list[str]:
        return list(self._variables)

    def erase(self, names: Iterable[str]) -> None:
        """Forget these variables."""
        for name in names:
            self._variables.pop(name, None)


_global = Setting("global_scope", Scope())


def global_scope() -> Scope:
    """The scope that Executors run in by default."""
    return _global.get()


@contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Make ``scope`` the global one within the block, in this context only.

    Raises ArgumentError for a value that is not a Scope.
    """
    if not isinstance(scope, Scope):
        raise ArgumentError(f"scope_guard: takes a Scope: got {type(scope).__name__}; use static.Scope()")
    with _global.guard(scope):
        yield


def tensor_of(variable: Variable, scope: ScopeValues) -> Tensor | None:
    """The Tensor with the value of a persistable Variable: the one it shares storage with, or the scope's."""
    if variable.tensor is not None:
        tensor: Tensor = variable.tensor
        return tensor
    found = scope.find_var(variable.name)
    return None if found is None else found.tensor


@delegates.value_of.define
def value_of(variable: Variable, scope: ScopeValues | None = None) -> Tensor:
    """The value of a persistable Variable as a Tensor of the same storage; ProgramError if it has none."""
    if not variable.persistable:
        raise ProgramError(
            f"get_value: {variable.name!r} keeps no value between runs; fetch it, or make it persistable"
        )
    found = tensor_of(variable, scope or global_scope())
    if found is None:
        raise ProgramError(
            f"get_value: {variable.name!r} has no value yet; run the startup program or load one"
        )
    return found


def require_fit(variable: Variable, array: np.ndarray[Any, Any]) -> None:
    """Raises ProgramError, ShapeError or DTypeError where ``array`` can't be the value of ``variable``."""
    where, spec = f"set_value: {variable.name!r}", variable.spec
    if not variable.persistable:
        raise ProgramError(f"{where} keeps no value between runs; make it persistable")
    fits = array.ndim == spec.ndim and all(e in (-1, d) for d, e in zip(array.shape, spec.shape, strict=True))
    if not fits:
        raise ShapeError(f"{where} is {spec}: got shape {list(array.shape)}; reshape the value first")
    if array.dtype != spec.dtype.np:
        raise DTypeError(f"{where} is {spec}: got {array.dtype}; cast the value first")


@delegates.give_value.define
def give_value(variable: Variable, array: np.ndarray[Any, Any], scope: ScopeValues | None = None) -> None:
    """Give a persistable Variable a copy of ``array`` as its value. Raises as ``require_fit``."""
    require_fit(variable, array)
    if variable.tensor is not None:
        write(variable.tensor, array)
    else:
        scope = scope or global_scope()
        (scope.find_var(variable.name) or scope.var(variable.name)).store(array.copy())


@delegates.program_state.define
def program_state(program: Program, mode: str = "all", scope: ScopeValues | None = None) -> dict[str, Tensor]:
    """See ``Program.state_dict``."""
    if mode not in ("all", "param", "opt"):
        raise ArgumentError(f"state_dict: mode {mode!r} is unknown; use 'all', 'param' or 'opt'")
    found = {}
    for variable in program.list_vars():
        kind = "param" if variable.is_parameter else "opt"
        if variable.persistable and mode in ("all", kind) and not variable.is_data:
            found[variable.name] = value_of(variable, scope)
    return found


@delegates.set_program_state.define
def set_program_state(program: Program, state: Mapping[str, Any], scope: ScopeValues | None = None) -> None:
    """See ``Program.set_state_dict``."""
    if not isinstance(state, Mapping):
        raise DTypeError(f"set_state_dict: takes a dict of values by name: got {type(state).__name__}")
    known = {v.name: v for v in program.list_vars() if v.persistable}
    unknown = [name for name in state if name not in known]
    if unknown:
        warnings.warn(
            f"set_state_dict: {unknown[:5]} are not persistable Variables of the Program and are ignored",
            stacklevel=3,
        )
    values = {name: np.asarray(value) for name, value in state.items() if name in known}
    for name, value in values.items():  # all are checked before the first is changed
        require_fit(known[name], value)
    for name, value in values.items():
        give_value(known[name], value, scope)
