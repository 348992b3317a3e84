"""What applying an operator means now: eager (compute and record) or building (infer and append)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.core.opdef import OpDef


class Mode:
    """The meaning of an operator application, of gradient recording and of precision, in one object.

    Instances are not changed once current; a context manager makes a variant current instead, so a look at
    one ContextVar answers every question that an operator asks.
    """

    fast = False  # the generated eager path may run: NumPy arrays, no tracing, no mixed precision
    grad = True  # record for backward
    static = False  # appends to a Program

    def apply(self, opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Apply ``opdef``; returns one value, or a tuple where it has several outputs."""
        raise TypeError(f"{opdef.name}: no engine mode is active; import engine before applying operators")

    def with_grad(self, grad: bool) -> Mode:
        """This mode with recording switched on or off."""
        return self


class _Default:
    """The process-wide mode, seen by every context that set none: so `enable_static` holds in new threads."""

    __slots__ = ("mode",)

    def __init__(self) -> None:
        self.mode: Mode = Mode()


default = _Default()
# The mode of this context; None: the process-wide one. Generated code reads it, so it is not a Setting, which
# takes one step more.
variable: ContextVar[Mode | None] = ContextVar("engine_mode", default=None)
# The blocks that are open in this context, each with the mode to go back to.
_open: ContextVar[tuple[tuple[object, Mode | None], ...]] = ContextVar("engine_mode_blocks", default=())


def current() -> Mode:
    """The mode that operators are applied in."""
    return variable.get() or default.mode


def set_default(mode: Mode) -> None:
    """Make ``mode`` the process-wide one."""
    default.mode = mode


@contextmanager
def use(mode: Mode) -> Iterator[Mode]:
    """Within the block (and this context only) ``mode`` is current."""
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
    """Let ``leave(block)`` go back to ``before``; what is current stays so."""
    _open.set((*_open.get(), (block, before)))


def leave(block: object) -> None:
    """Go back to what was current before ``block`` was entered.

    Where a block entered later is still open (two generators can do that), its mode stays current, and it
    goes back to what was there before this one. In another context than that of ``enter`` nothing changes.
    """
    entries = _open.get()
    for place in reversed(range(len(entries))):
        if entries[place][0] is block:
            break
    else:
        return
    before = entries[place][1]
    later = entries[place + 1 :]
    if later:
        later = ((later[0][0], before), *later[1:])
    else:
        variable.set(before)
    _open.set((*entries[:place], *later))


def is_static() -> bool:
    """True where operators are appended to a Program."""
    return current().static


def is_symbolic(value: Any) -> bool:
    """True for a Variable: a named place in a Block that holds no data yet."""
    return getattr(value, "_symbolic", False) is True
