"""Modes: applying an operator computes and records (eager), or infers and appends (building)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from engine.core.operators.opdef import OpDef
    from engine.core.precision import Precision


class Training(Protocol):
    """Training in a mode where operators are not run at once: backward, gradients, the start of each run."""

    def backward(self, value: Any, start: Any = None) -> None:
        """Add the gradients of ``value`` to those of the leaves it depends on."""

    def gradient(self, tensor: Any) -> Any:
        """The gradient that a leaf has at this point, or None."""

    def clear(self, tensor: Any, set_to_zero: bool) -> None:
        """Set the gradient of a leaf to zero, or drop it."""

    def set_gradient(self, tensor: Any, value: Any) -> None:
        """Give a leaf another gradient, or none."""

    def retain(self, value: Any) -> None:
        """Keep the gradient of a value that an operator computes."""

    def backward_once(self, value: Any) -> None:
        """Add the gradients of ``value`` unless ``backward`` did."""

    def evaluated_each_run(self, function: Callable[[], Any]) -> Any:
        """The placeholder of the Tensor that ``function()`` returns at the beginning of each run."""

    def done_each_run(self, function: Callable[[], Any]) -> None:
        """Call ``function()`` at the beginning of each run."""


class Mode:
    """The meaning of an operator application, of gradient recording and of precision, in one object.

    An instance does not change once it is current; a context manager makes a variant current instead, so an
    operator reads everything from one ContextVar.
    """

    fast = False  # the generated eager path may run: NumPy arrays, no tracing, no mixed precision
    grad = True  # record for backward
    static = False  # appends to a Program
    training: Training | None = None  # None: at once, on eager Tensors
    precision: Precision | None = None  # casts inputs before an operator; None: mixed precision is off

    def apply(self, opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Apply ``opdef``; returns one value, or a tuple where it has several outputs."""
        raise TypeError(f"{opdef.name}: no engine mode is active; import engine before applying operators")

    def with_grad(self, grad: bool) -> Mode:
        """This mode with recording switched on or off."""
        return self

    def with_precision(self, precision: Precision | None) -> Mode:
        """This mode with another setting of mixed precision, or none."""
        return self


class _Default:
    """The process-wide mode, seen by contexts without their own: `enable_static` also affects new threads."""

    __slots__ = ("mode",)

    def __init__(self) -> None:
        self.mode: Mode = Mode()


default = _Default()
# The mode of this context; None: the process-wide one. Generated code reads it, so it is not a Setting, which
# takes one more step.
variable: ContextVar[Mode | None] = ContextVar("engine_mode", default=None)
# The innermost block that is open in this context, the mode to go back to, and the blocks around it.
_Open: TypeAlias = "tuple[object, Mode | None, _Open] | None"
_open: ContextVar[_Open] = ContextVar("engine_mode_blocks", default=None)


def current() -> Mode:
    """The mode that operators are applied in."""
    return variable.get() or default.mode


def set_default(mode: Mode) -> None:
    """Make ``mode`` the process-wide one."""
    default.mode = mode


@contextmanager
def use(mode: Mode) -> Iterator[Mode]:
    """Make ``mode`` current within the block, in this context only."""
    block = object()
    enter(block, mode)
    try:
        yield mode
    finally:
        leave(block)


def enter(block: object, mode: Mode) -> None:
    """Make ``mode`` current in this context until ``leave(block)``."""
    open_after(block, variable.get())
    variable.set(mode)


def open_after(block: object, before: Mode | None) -> None:
    """Let ``leave(block)`` go back to ``before``; the current mode does not change."""
    _open.set((block, before, _open.get()))


def leave(block: object) -> None:
    """Go back to the mode that was current before ``block`` was entered.

    Where a block entered later is still open (two generators can do that), its mode stays current, and
    leaving it goes back to the mode before this block. In another context than that of ``enter`` nothing
    changes.
    """
    innermost = _open.get()
    if innermost is not None and innermost[0] is block:
        _, before, around = innermost
        variable.set(before)
        _open.set(around)
    else:
        _open.set(_without(innermost, block))


def _without(entry: _Open, block: object) -> _Open:
    """The open blocks from ``entry`` outwards without ``block``; the one within it goes back further."""
    if entry is None:
        return None
    inner, before, around = entry
    if around is not None and around[0] is block:
        return inner, around[1], around[2]
    return inner, before, _without(around, block)


def is_static() -> bool:
    """True where operators are appended to a Program."""
    return current().static


def is_symbolic(value: object) -> bool:
    """True for a Variable: a named place in a Block that holds no data yet."""
    return getattr(value, "_symbolic", False) is True
