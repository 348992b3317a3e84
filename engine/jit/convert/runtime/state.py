"""The variables of converted code as the runtime sees them: cells, names without a value, and errors with a
place.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CellType, FunctionType
from typing import Any, NoReturn, cast

from engine.core.errors import ConversionError
from engine.jit.convert import backend

HERE = str(Path(__file__).parent.parent)  # the whole conversion


@dataclass(frozen=True)
class Place:
    """A line of the user's source."""

    filename: str
    line: int

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}"


def user_place() -> Place:
    """The line of the user's source that is being run: the nearest frame outside of this package."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(HERE) and frame.f_back is not None:
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno)


def refuse(place: Place, what: str, values: str, remedy: str) -> NoReturn:
    """Raise ConversionError with its four parts: where, what is wrong, the values seen, what to do."""
    raise ConversionError(f"{place}: {what}: {values}; {remedy}")


class Undefined:
    """Stands for a variable without a value after a branch or loop that a Tensor decides: only one path binds
    it.

    Whatever is done with it raises UnboundLocalError that names the variable and the branch.
    """

    __slots__ = ("_name", "_reason")
    _name: str
    _reason: str

    def __init__(self, name: str, reason: str = "") -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_reason", reason)

    def __repr__(self) -> str:
        return f"Undefined({self._name!r})"

    def fail(self) -> NoReturn:
        """Raise the error that Python raises for an unbound variable, with the branch in it."""
        message = f"cannot access local variable '{self._name}' where it is not associated with a value"
        raise UnboundLocalError(f"{message}: {self._reason}" if self._reason else message)

    def _used(self, *_args: object, **_kwargs: object) -> NoReturn:
        self.fail()

    __getattr__ = __setattr__ = __call__ = __bool__ = __iter__ = __len__ = __getitem__ = __setitem__ = _used
    __index__ = __int__ = __float__ = __str__ = __contains__ = __lt__ = __le__ = __gt__ = __ge__ = _used
    __neg__ = __pos__ = __abs__ = __invert__ = __enter__ = __exit__ = _used
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _used
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _used
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _used


class Partly(Undefined):
    """A variable that one path of a branch binds, with the value that it has there and a Tensor that says
    whether that path was taken.
    """

    __slots__ = ("_bound", "_value")
    _value: Any
    _bound: Any

    def __init__(self, undefined: Undefined, value: object, bound: object) -> None:
        super().__init__(undefined._name, undefined._reason)
        object.__setattr__(self, "_value", value)
        object.__setattr__(self, "_bound", bound)

    def taken(self) -> Any:
        """The value, for a run that fails where it has none."""
        message = f"cannot access local variable '{self._name}' where it is not associated with a value"
        backend.get().check(self._bound, f"{message}: {self._reason}")
        return self._value


class NoValue:
    """Stands for the value of a `return` in a loop that has not been reached; a flag says that nothing reads
    it.
    """

    def __repr__(self) -> str:
        return "NO_VALUE"


NO_VALUE = NoValue()


class Slot:
    """One variable of converted code: the cell that the user's function and the helper functions share."""

    def __init__(self, name: str, cell: CellType) -> None:
        self.name = name
        self.cell = cell

    def get(self) -> Any:
        """The value, or Undefined where the variable has none."""
        try:
            return self.cell.cell_contents
        except ValueError:
            return Undefined(self.name)

    def set(self, value: object) -> None:
        """Store the value; Undefined without a reason leaves the variable unbound."""
        if isinstance(value, Undefined) and not value._reason:
            with contextlib.suppress(ValueError):
                del self.cell.cell_contents
        else:
            self.cell.cell_contents = value


class State:
    """The variables that a branch or loop binds; `live` are those whose value is needed afterwards.

    `names` are lambdas such as `lambda: (a, b)`: their closure holds the variables' cells, whatever the
    variables hold.
    """

    def __init__(
        self, names: Callable[[], object] | None, live: Callable[[], object] | None, place: Place
    ) -> None:
        self.slots = list(_slots(names, place))
        reachable = {id(slot.cell) for slot in _slots(live, place)} if live is not None else None
        self.live = [slot for slot in self.slots if reachable is None or id(slot.cell) in reachable]

    def save(self) -> list[Any]:
        """All values."""
        return [slot.get() for slot in self.slots]

    def restore(self, values: Sequence[Any]) -> None:
        """Put the values of `save` back."""
        for slot, value in zip(self.slots, values, strict=True):
            slot.set(value)

    def live_values(self) -> list[Any]:
        """Values of the live variables."""
        return [slot.get() for slot in self.live]

    def finish(self, values: Sequence[Any]) -> None:
        """Store the live variables' values; the others have none from here on, and nothing reads them."""
        live = {id(slot) for slot in self.live}
        for slot in self.slots:
            if id(slot) not in live:
                slot.set(Undefined(slot.name))
        for slot, value in zip(self.live, values, strict=True):
            slot.set(value)


def _slots(names: Callable[[], object] | None, place: Place) -> Iterator[Slot]:
    if names is None:
        return
    function = cast(FunctionType, names)
    if function.__code__.co_names:
        shared = ", ".join(function.__code__.co_names)
        refuse(
            place,
            "a global variable is assigned under a condition that depends on a Tensor",
            shared,
            "return the new value and assign it outside of the converted function, or keep it in a Tensor",
        )
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield Slot(name, cell)


def read(get: Callable[[], Any]) -> Any:
    """The value of a local variable; where it has none this raises UnboundLocalError, as Python does."""
    try:
        value = get()
    except NameError as error:
        raise UnboundLocalError(
            f"cannot access local variable '{error.name}' where it is not associated with a value"
        ) from None
    if isinstance(value, Partly):
        return value.taken()
    if isinstance(value, Undefined):
        value.fail()
    return value
