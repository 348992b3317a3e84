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
variable: ContextVar[Mode | None] = ContextVar("engine_mode", default=None)


def current() -> Mode:
    return variable.get() or default.mode


def set_default(mode: Mode) -> None:
    """Make ``mode`` the process-wide one."""
    default.mode = mode


@contextmanager
def use(mode: Mode) -> Iterator[Mode]:
    """Within the block (and this context only) ``mode`` is current."""
    token = variable.set(mode)
    try:
        yield mode
    finally:
        variable.reset(token)


def is_static() -> bool:
    """True where operators are appended to a Program."""
    return current().static


def is_symbolic(value: Any) -> bool:
    """True for a Variable: a named place in a Block that holds no data yet."""
    return getattr(value, "_symbolic", False) is True
