"""Errors of NumPy and Python inside public functions, in the engine's words: the function and the argument.

A public function computes with its arguments as they are: checking each before would take longer than many
operators. Where one is of a wrong type, Python's error names neither. ``explain_errors`` lets public
functions catch those errors; ``explained`` makes the error that a function raises instead, of a class that
also derives from the first error's. Errors in a user's own functions pass unchanged.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import FunctionType, TracebackType
from typing import Any

import numpy as np

from engine.core.errors import (
    AllocationError,
    ArgumentError,
    ArgumentTypeError,
    AssertFailedError,
    DTypeError,
    ElementRangeError,
    EngineError,
    NoValueError,
    OutOfRangeError,
)
from engine.core.frames import is_internal
from engine.core.mode import is_symbolic

RAW = (TypeError, ValueError, AttributeError, IndexError, OverflowError, MemoryError)

_NUMPY = str(Path(np.__file__).parent)
_TENSOR = frozenset(("dtype", "shape", "ndim", "size", "place", "stop_gradient", "set_value", "spec", "name"))
_TOO_LARGE = ("array is too big", "Maximum allowed dimension exceeded")
_MOST = 60  # characters of a value that an error shows


def explained(
    function: Callable[..., Any],
    args: Iterable[Any],
    kwargs: Mapping[str, Any],
    error: BaseException,
    where: str = "",
) -> BaseException:
    """The error to raise for one that left ``function``, called with ``args`` and ``kwargs``.

    ``where`` is the public name of the function, where it has another one.

    That is ``error`` itself where it is the engine's, with Paddle's word for its kind, or where code outside
    the engine and NumPy raised it.
    """
    if isinstance(error, EngineError):
        return with_kind(error, where or function.__name__)
    if not isinstance(error, RAW) or not _is_inside(error.__traceback__):
        return error
    name = where or function.__name__
    if isinstance(error, MemoryError) or is_too_large(error):
        return allocation_error(name, error)
    try:
        given = dict(inspect.signature(function).bind(*args, **kwargs).arguments)
    except TypeError:
        return error  # Python's own sentence names the function and the argument
    made = with_kind(_named(name, given, error), name)
    made.__cause__ = error
    return made


# The functions whose indices and axes Paddle checks as such; elsewhere it calls them invalid arguments.
_OUT_OF_RANGE = frozenset((
    "bernoulli", "cross", "cross_entropy", "cummax", "cummin", "cumsum", "diag_embed", "diagonal", "gather",
    "index_add", "index_select", "logcumsumexp", "repeat_interleave", "scatter", "scatter_nd",
    "scatter_nd_add", "softmax_with_cross_entropy", "trace",
))  # fmt: skip


_INVALID = (ArgumentError, DTypeError, NoValueError, AssertFailedError)


def with_kind(error: EngineError, where: str) -> EngineError:
    """An error of the function or operator ``where`` with Paddle's word for its kind."""
    if isinstance(error, OutOfRangeError) and not isinstance(error, ElementRangeError):
        error.set_kind("OutOfRange" if where in _OUT_OF_RANGE else "InvalidArgument")
    elif isinstance(error, _INVALID) and not error.kind:
        error.set_kind("InvalidArgument")
    return error


def is_too_large(error: BaseException) -> bool:
    """Whether this is NumPy's error for an array of more bytes than an address can count."""
    return isinstance(error, ValueError) and str(error).startswith(_TOO_LARGE)


def allocation_error(where: str, error: Exception) -> Exception:
    """The engine's error for an array that memory does not hold; ``error`` itself without NumPy's size."""
    if getattr(error, "shape", None) is None and not is_too_large(error):
        return error
    made = AllocationError(
        f"{where}: not enough memory: {error}; take smaller sizes, or a smaller batch size or a smaller model"
    )
    made.__cause__ = error
    return made


def _is_inside(traceback: TracebackType | None) -> bool:
    """Whether all frames of an error are the engine's or NumPy's: it is not one of a user's function."""
    while traceback is not None:
        filename = traceback.tb_frame.f_code.co_filename
        if not is_internal(filename) and not filename.startswith((_NUMPY, "<__array_function__")):
            return False
        traceback = traceback.tb_next
    return True


def _named(where: str, given: Mapping[str, Any], error: BaseException) -> EngineError:
    if isinstance(error, AttributeError):
        found = _holding(given, error.obj)
        if found and (error.name in _TENSOR or str(error.name).startswith("_")):
            return ArgumentTypeError(
                f"{where}: {found!r} must be a Tensor: got {type(error.obj).__name__}; use to_tensor()"
            )
        if found and hasattr(str, str(error.name)):
            return ArgumentTypeError(
                f"{where}: {found!r} must be a string: got {_shown(error.obj)}; see help({where})"
            )
        return _with_values(ArgumentTypeError, where, given, error)
    kind = next(k for base, k in _KINDS if isinstance(error, base))
    found = _blamed(given, str(error))
    if not found:
        return _with_values(kind, where, given, error)
    return kind(
        f"{where}: {found!r} has a wrong type or value: got {_shown(given[found])}: {error}; "
        f"see help({where})"
    )


_KINDS: tuple[tuple[type[Exception], type[EngineError]], ...] = (
    (TypeError, DTypeError),
    (IndexError, OutOfRangeError),
    (OverflowError, OutOfRangeError),
    (ValueError, ArgumentError),
)


def _with_values(
    kind: type[EngineError], where: str, given: Mapping[str, Any], error: BaseException
) -> EngineError:
    values = ", ".join(f"{name}={_shown(value)}" for name, value in given.items())
    made = kind(f"{where}: an argument has a wrong type or value: {error}: got {values}; see help({where})")
    made.unattributed = True
    return made


def _holding(given: Mapping[str, Any], value: Any) -> str:
    """The argument that is ``value``, or has it in a list; empty where there is none."""
    for name, one in given.items():
        if one is value:
            return name
    for name, one in given.items():
        if isinstance(one, list | tuple):
            for position, item in enumerate(one):
                if item is value:
                    return f"{name}[{position}]"
    return ""


def _blamed(given: Mapping[str, Any], message: str) -> str:
    """The one argument that fits the message of an error; empty where none or several do."""
    if "truth value of an array" in message or "of size 1" in message or "-dimensional arrays" in message:
        found = [n for n, v in given.items() if isinstance(v, np.ndarray | np.generic)]
    else:
        found = [n for n, v in given.items() if f"'{type(v).__name__}'" in message]
        found = found or [n for n, v in given.items() if isinstance(v, str | bytes) and repr(v) in message]
    odd = [n for n in found if not _is_usual(given[n])] or found
    return odd[0] if len(odd) == 1 else ""


def _is_usual(value: Any) -> bool:
    return value is None or hasattr(value, "stop_gradient") or isinstance(value, bool | int | float)


def _shown(value: Any) -> str:
    if hasattr(value, "stop_gradient") or is_symbolic(value):
        return f"{value.dtype}{list(value.shape)}"
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        return f"{kind} {value.dtype}{list(value.shape)}"
    if isinstance(value, list | tuple) and any(hasattr(v, "stop_gradient") for v in value):
        return f"{kind} of {len(value)}"
    try:
        text = repr(value)
    except Exception:
        text = ""  # a class of the user's
    text = text if len(text) <= _MOST else text[:_MOST] + "..."
    return text if value is None or isinstance(value, bool | int | float | str) else f"{kind} {text}"


# ----- public functions that catch -----------------------------------------------------------------------


def explain_errors(namespace: Mapping[str, Any], rooms: tuple[str, ...], hot: frozenset[str]) -> None:
    """Let the public functions in ``namespace`` explain their errors, except those named in ``hot``.

    ``rooms`` are the beginnings of their modules' names.
    The functions stay the same objects, so that they can be pickled, and other modules may have imported
    them. Closures are omitted: what makes them catches.
    """
    for name, function in namespace.items():
        if (
            type(function) is FunctionType
            and (function.__module__ or "").startswith(rooms)
            and name not in hot
            and not name.startswith("_")
            and function.__closure__ is None
            and not hasattr(function, "__wrapped__")
        ):
            _catch(function, name)


def _catching(*args: Any, **kwargs: Any) -> Any:
    """Its code is that of every function that catches, each with its own constants for these strings."""
    body: Any = "<body>"
    try:
        return body(*args, **kwargs)
    except BaseException as error:
        explain: Any = "<explain>"
        raise explain(body, args, kwargs, error, "<name>")  # noqa: B904 - the error has its cause


def body_of(function: FunctionType) -> FunctionType:
    """The function that contains the body of ``function``, which is its own where it does not catch."""
    catches = function.__code__.co_filename == _catching.__code__.co_filename
    body: FunctionType = getattr(function, "__wrapped__", function) if catches else function
    return body


def _catch(function: FunctionType, name: str) -> None:
    """Move the body of ``function``, public as ``name``, to a function that is called in a ``try``."""
    body = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    body.__kwdefaults__, body.__annotations__ = function.__kwdefaults__, function.__annotations__
    body.__module__, body.__qualname__, body.__doc__ = (
        function.__module__,
        function.__qualname__,
        function.__doc__,
    )
    own: dict[Any, Any] = {"<body>": body, "<explain>": explained, "<name>": name}
    shared = _catching.__code__
    code = shared.replace(
        co_consts=tuple([own.get(c, c) for c in shared.co_consts]),
        co_name=function.__name__,
        co_qualname=function.__qualname__,
    )
    function.__code__, function.__defaults__, function.__kwdefaults__ = code, None, None
    function.__wrapped__ = body  # type: ignore[attr-defined]
