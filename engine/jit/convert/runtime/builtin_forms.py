"""Forms of Python's built-in functions that also take symbolic Tensors; the rest of the built-ins is called
as it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sized
from typing import Any

from engine.jit.convert import backend
from engine.jit.convert.backend import Kinds
from engine.jit.convert.runtime import attempt
from engine.jit.convert.runtime.merge import decided, describe
from engine.jit.convert.runtime.sequences import Rows, SymbolicRange
from engine.jit.convert.runtime.state import refuse, user_place


def convert_range(*args: Any) -> range | SymbolicRange:
    """Python's `range`, or one whose numbers only the running Program knows."""
    args = tuple(backend.get().asked(arg) for arg in args)
    if not 1 <= len(args) <= 3 or not backend.any_symbolic(args):
        return range(*args)
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    return SymbolicRange(*(backend.get().scalar(number) for number in (start, stop, step)))


def convert_len(value: Sized | SymbolicRange | Rows) -> Any:
    """`len`, which for a symbolic Tensor is its first dimension, known or not."""
    if isinstance(value, SymbolicRange | Rows):
        return value.length()
    tools = backend.get()
    return tools.as_number(tools.length(value), 0) if tools.is_symbolic(value) else len(value)


def convert_int(*args: Any, **kwargs: Any) -> Any:
    """`int`, which casts a symbolic Tensor to int32, as Paddle does."""
    return _cast(int, "int32", args, kwargs)


def convert_float(*args: Any, **kwargs: Any) -> Any:
    """`float`, which casts a symbolic Tensor to float32."""
    return _cast(float, "float32", args, kwargs)


def convert_bool(*args: Any, **kwargs: Any) -> Any:
    """`bool`, which casts a symbolic Tensor to bool, and asks a tensor array for its length."""
    if len(args) == 1 and backend.get().is_array(args[0]):
        return decided(args[0])
    return _cast(bool, "bool", args, kwargs)


def convert_isinstance(value: object, kinds: Kinds) -> bool:
    """`isinstance`, for which a symbolic Tensor is a Tensor and a tensor array is a list."""
    return isinstance(value, kinds) or backend.get().stands_for(value, kinds)


def convert_print(*args: Any, sep: str | None = None, end: str | None = None, **kwargs: Any) -> None:
    """`print`; symbolic Tensors are printed when the Program runs, each after the text in front of it."""
    args = tuple(backend.get().asked(arg) for arg in args)
    if not backend.any_symbolic(args):
        _print(*args, sep=sep, end=end, **kwargs)
        return
    words: list[str] = []
    for arg in args:
        if backend.get().is_symbolic(arg):
            backend.get().show(arg, (" " if sep is None else sep).join(words))
            words.clear()
        else:
            words.append(str(arg))
    if words:
        _print(*words, sep=sep, end=end, **kwargs)


def _print(*args: Any, **kwargs: Any) -> None:
    """Print now, or once a trace is done in place of which the function may run eagerly."""
    attempted = attempt.current()
    if attempted is None:
        print(*args, **kwargs)
    else:
        attempted.show_later(functools.partial(print, *map(str, args), **kwargs))


def convert_assert(test: object, message: Callable[[], Any] | None = None) -> Any:
    """The test of an `assert`; a symbolic one is checked when the Program runs."""
    test = decided(test)
    if not backend.get().is_undecided(test):
        return test
    backend.get().check(test, str(message()) if message is not None else "")
    return True


def shown(value: object) -> Any:
    """A value that becomes text. Raises ConversionError where the function can run eagerly and only the
    running Program knows the value."""
    if attempt.current() is not None and _is_later(value):
        refuse(
            user_place(),
            "a value that is known only when the Program runs becomes text",
            describe(value),
            "print the Tensor itself, or make the text outside of the converted function",
        )
    return value


def _is_later(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_is_later, value))
    return backend.get().is_undecided(value)


def convert_str(value: object = "", *encoding: str) -> str:
    """`str`."""
    return str(shown(value), *encoding)


def convert_repr(value: object) -> str:
    """`repr`."""
    return repr(shown(value))


def convert_format(value: object, *spec: str) -> str:
    """`format`."""
    return format(shown(value), *spec)


def text_method(method: Callable[..., str]) -> Callable[..., str]:
    """A method of a str that is given values, such as `format`."""
    return lambda *args, **kwargs: method(*map(shown, args), **{k: shown(v) for k, v in kwargs.items()})


def _cast(kind: type, dtype: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    args = tuple(backend.get().asked(arg) for arg in args)
    if len(args) == 1 and not kwargs and backend.get().is_symbolic(args[0]):
        made = backend.get().cast(args[0], dtype)  # of any shape, as in Paddle
        return backend.get().as_number(made, kind(0))
    return kind(*args, **kwargs)


# By identity: not every callable that is looked up here can be hashed.
BUILTIN_FORMS: dict[int, Callable[..., Any]] = {
    id(range): convert_range,
    id(len): convert_len,
    id(print): convert_print,
    id(int): convert_int,
    id(float): convert_float,
    id(bool): convert_bool,
    id(isinstance): convert_isinstance,
    id(str): convert_str,
    id(repr): convert_repr,
    id(format): convert_format,
}
