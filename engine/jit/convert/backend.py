"""What the converted code's runtime asks of the engine, in one object that tests replace.

`get()` is the backend in use. The engine's own is bound when first asked, so that this package can be
imported, and its passes tested, without the rest of the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import UnionType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from engine.core.context import Setting
from engine.core.delegate import delegate

if TYPE_CHECKING:
    import numpy as np

# What `isinstance` takes.
Kinds: TypeAlias = type | UnionType | tuple[Any, ...]


class Number(Protocol):
    """An index or counter: an integer, or a symbolic value of one."""

    def __add__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __lt__(self, other: Any, /) -> Any: ...
    def __gt__(self, other: Any, /) -> Any: ...


class Backend(Protocol):
    """Symbolic values and the control flow over them. A leaf is a symbolic value, an eager Tensor or a
    number.
    """

    def is_symbolic(self, value: object) -> bool:
        """Whether the value has no data while the Program is built."""

    def is_undecided(self, value: object) -> bool:
        """Whether the value's truth is known only to the running Program; holds for every symbolic value."""

    def is_tensor(self, value: object) -> bool:
        """Whether the value is symbolic or an eager Tensor."""

    def is_array(self, value: object) -> bool:
        """Whether the value is a tensor array: a list whose length only the running Program knows.

        It gives its Tensors by `leaves()`, and an array of the same structure by `with_leaves(...)`.
        """

    def array(self, items: list[Any], like: Any) -> Any:
        """A tensor array of the items, for elements like `like`; the reason as text if there is none."""

    def stands_for(self, value: object, kinds: Kinds) -> bool:
        """Whether a symbolic value has in eager mode one of the types."""

    def asked(self, value: object) -> Any:
        """A dimension that is not known yet as a symbolic value; anything else as it is."""

    def rank(self, value: Any) -> int:
        """The number of dimensions of a symbolic value or Tensor."""

    def filled(self, value: float | np.generic, like: Any) -> Any:
        """A number in the rank and dtype of a Tensor."""

    def is_floating(self, value: Any) -> bool:
        """Whether a symbolic value or Tensor has a floating dtype."""

    def cond(
        self,
        pred: Any,
        true_fn: Callable[[], Any],
        false_fn: Callable[[], Any],
        join: Callable[[Any, Any], tuple[list[Any], list[Any]]],
    ) -> list[Any]:
        """Build both sides, then let `join` say which leaves each side gives; returns the leaves of the side
        taken.
        """

    def while_loop(
        self, test: Callable[[list[Any]], Any], body: Callable[[list[Any]], list[Any]], leaves: list[Any]
    ) -> list[Any]:
        """Build a loop over the leaves; returns their values after it."""

    def trial(self, body: Callable[[list[Any]], Any], leaves: list[Any]) -> Any:
        """What `body` gives when it is built with loop variables like the leaves; what it built is thrown
        away.
        """

    def undone_on(self, error: type[Exception] | tuple[type[Exception], ...]) -> AbstractContextManager[None]:
        """If the error leaves the block, what was built inside is thrown away."""

    def placeholder(self, like: Any) -> Any:
        """A leaf of the shape and dtype of `like` whose value is never read; None where there is none."""

    def is_truth(self, value: object) -> bool:
        """Whether the value is a bool, or a Tensor of one."""

    def logical_and(self, left: Any, right: Any) -> Any: ...

    def logical_or(self, left: Any, right: Any) -> Any: ...

    def logical_not(self, value: Any) -> Any: ...

    def check(self, value: Any, message: str) -> None:
        """Fail when the Program runs and the value is not true."""

    def show(self, value: Any, message: str) -> None:
        """Print the message and the value when the Program runs."""

    def length(self, value: Any) -> Any:
        """The first dimension of a symbolic value: an int where it is known, else a symbolic value."""

    def as_number(self, value: object, like: float) -> Any:
        """A symbolic value of one element that eager code has as an int, float or bool, like `like`."""

    def number_of(self, value: object) -> float | None:
        """0, 0.0 or False where a value is an int, float or bool to eager code; else None."""

    def scalar(self, value: Any) -> Any:
        """A symbolic value of one element as one without dimensions; anything else as it is."""

    def each_run(self, function: Callable[..., Any]) -> Callable[..., Any] | None:
        """What to call in place of a method whose effect in Python belongs to each run of the Program; None
        for others.
        """

    def data_method(self, value: Any, name: str) -> Callable[[], Any] | None:
        """What a method of a Tensor that reads its data does while a Program is built; None for others."""

    def rows(self, value: Any) -> Any:
        """A tensor array of the rows of a symbolic value."""

    def reduced(self, name: str, value: Any) -> Any:
        """`sum`, `any`, `all`, `max` or `min` of the rows of a symbolic value, or of a tensor array's
        elements; None where no operator says what Python would.
        """

    def sorted(self, items: Any, reverse: bool) -> Any:
        """The items of a list or tensor array in order; the reason as text where they have none."""

    def holds(self, container: Any, value: object) -> Any:
        """Whether a value is among the rows of a symbolic value; None where no operator says it."""

    def cast(self, value: Any, dtype: str) -> Any:
        """A symbolic value converted to `bool`, `int64` or `float32`."""


@delegate("engine.jit.convert.engine_backend")
def engine_backend() -> Backend:
    """The engine's own backend."""
    raise NotImplementedError


_current: Setting[Backend | None] = Setting("conversion_backend", None)


def get() -> Backend:
    """The backend in use: the engine's, unless `use` put another in its place."""
    found = _current.get()
    if found is None:
        found = engine_backend()
        _current.set(found)
    return found


@contextmanager
def use(backend: Backend) -> Iterator[None]:
    """Within the block, and this context only, converted code asks `backend`."""
    with _current.guard(backend):
        yield


def any_symbolic(values: Sequence[object]) -> bool:
    """Whether one of the values is symbolic."""
    backend = get()
    return any(backend.is_symbolic(value) for value in values)
