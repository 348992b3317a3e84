"""Calls made by converted code: which callables are converted, which are left as they are."""

from __future__ import annotations

import functools
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from engine.core.errors import ConversionError
from engine.jit.convert import backend
from engine.jit.convert.convert import convert, is_converted
from engine.jit.convert.runtime.builtin_forms import BUILTIN_FORMS, text_method
from engine.jit.convert.runtime.changing_calls import Outside, follow
from engine.jit.convert.runtime.numpy_calls import call_numpy, is_numpys
from engine.jit.convert.runtime.state import Undefined

ENGINE = __name__.split(".")[0]
_ignored: frozenset[str] = frozenset()  # replaced as a whole: another thread may be going through it


class Called:
    """What converted code called: Layers, and the user's functions as they were written, by id.

    ``begin`` gets each Layer before its first call, ``begin_function`` each function. With ``outside`` each
    call of the traced function does what Python would do: what is read outside of it is noted there, and a
    call whose result is another one each time raises ChangingError. Without, what the trace read holds for
    all calls.
    """

    def __init__(
        self,
        begin: Callable[[object], None],
        begin_function: Callable[[FunctionType], None],
        outside: Outside | None,
    ) -> None:
        self.begin = begin
        self.begin_function = begin_function
        self.outside = outside
        self.layers: dict[int, Any] = {}
        self.functions: dict[int, FunctionType] = {}


_noted: ContextVar[Called | None] = ContextVar("called", default=None)


def ignore_modules(modules: list[ModuleType]) -> None:
    """From now on leave functions of these modules, and of modules below them, as they are."""
    global _ignored
    _ignored |= {module.__name__ for module in modules}


@contextmanager
def noting_calls(
    begin: Callable[[object], None],
    begin_function: Callable[[FunctionType], None],
    outside: Outside | None,
) -> Iterator[Called]:
    """What converted code calls within the block: what it does depends on modes and values of Python."""
    found = Called(begin, begin_function, outside)
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


def _note(layer: Any) -> None:
    found = _noted.get()
    if found is not None and id(layer) not in found.layers:
        found.layers[id(layer)] = layer
        found.begin(layer)


def call(function: Callable[..., Any]) -> Any:
    """What to call in place of `function`: its converted form where it is the user's Python code, else
    itself.
    """
    if isinstance(function, Undefined):
        function.fail()
    form = BUILTIN_FORMS.get(id(function))
    if form is not None:
        return form
    noted = _noted.get()
    if noted is not None and noted.outside is not None:
        found = follow(function, noted.outside)
        if found is not None:
            return found
    if isinstance(getattr(function, "__self__", None), str) and function.__name__ == "format":
        return text_method(function)
    if is_numpys(function):
        return functools.partial(call_numpy, function)
    if isinstance(function, type | BuiltinFunctionType) or getattr(function, "_not_to_static", False) is True:
        return function
    owner = getattr(function, "__self__", None)
    if backend.get().is_tensor(owner):
        return backend.get().data_method(owner, function.__name__) or function
    target = getattr(function, "_static_function_target", None)
    if target is not None:
        return call(target)
    if isinstance(function, FunctionType):
        if getattr(function, "_calls_argument", False):  # the engine's, which calls the user's
            return lambda first, *args, **kwargs: function(call(first), *args, **kwargs)
        return _converted(function) if _is_users(function) else function
    if isinstance(function, MethodType):
        if is_layer(function.__self__):
            _note(function.__self__)
        deferred = backend.get().each_run(function)
        if deferred is not None:
            return deferred
        members = getattr(function.__func__, "_calls_members", ())
        if members:
            return _with_members(function, members)
        inner = call(function.__func__)
        return function if inner is function.__func__ else functools.partial(inner, function.__self__)
    if isinstance(function, functools.partial):
        inner = call(function.func)
        return (
            function
            if inner is function.func
            else functools.partial(inner, *function.args, **function.keywords)
        )
    if is_layer(function):
        return _layer_call(function)
    method = _call_method(function)
    if isinstance(method, FunctionType) and _is_users(method):
        return functools.partial(_converted(method), function)
    return function


def _with_members(method: MethodType, members: tuple[str, ...]) -> Any:
    """A class method that calls static methods of its class, which the user wrote: they are converted."""
    owner: Any = method.__self__
    converted = {name: call(getattr(owner, name)) for name in members}
    if all(made is getattr(owner, name) for name, made in converted.items()):
        return method
    made = type(owner)(owner.__name__, (owner,), {n: staticmethod(f) for n, f in converted.items()})
    return MethodType(method.__func__, made)


def _call_method(value: object) -> object:
    for owner in type(value).__mro__:
        if "__call__" in vars(owner):
            return vars(owner)["__call__"]
    return None


def is_layer(value: object) -> bool:
    """Whether the value is a Layer: the engine's `__call__` around a `forward`."""
    module = getattr(_call_method(value), "__module__", None)
    return isinstance(module, str) and _below(module, ENGINE) and callable(getattr(value, "forward", None))


def _layer_call(layer: Any) -> Any:
    """Call the layer as always, hooks included, with its `forward` converted."""
    _note(layer)
    forward = layer.forward
    inner = call(forward)
    hooks = {**getattr(layer, "_forward_pre_hooks", {}), **getattr(layer, "_forward_post_hooks", {})}
    if inner is forward:
        if _holds_users_layer(layer):
            # A container of the engine's that calls the user's layers: they are reached only through its
            # `forward`.
            inner = MethodType(_converted(forward.__func__), layer)
        elif not hooks:
            return layer

    return functools.partial(layer._call_converted, call, inner)


def _holds_users_layer(layer: Any) -> bool:
    sublayers = getattr(layer, "sublayers", None)
    if sublayers is None or not isinstance(getattr(layer.forward, "__func__", None), FunctionType):
        return False
    return any(not _below(type(sublayer).__module__, ENGINE) for sublayer in sublayers())


def _converted(function: FunctionType) -> Callable[..., Any]:
    if is_converted(function.__code__):
        return function
    found = _noted.get()
    if found is not None and id(function) not in found.functions:
        found.functions[id(function)] = function
        found.begin_function(function)
    try:
        return convert(function).function
    except ConversionError as error:
        return _as_it_is(function, error)


def _as_it_is(function: FunctionType, reason: ConversionError) -> Callable[..., Any]:
    """The unconverted function: it may be straight-line code; if it asks a Tensor for its truth, the error
    gives the reason.
    """

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except ConversionError as error:
            if error.__cause__ is reason:
                raise
            raise ConversionError(
                f"{error} (in `{function.__qualname__}`, which runs unconverted: {reason})"
            ) from reason

    return run


def _is_users(function: FunctionType) -> bool:
    module = function.__globals__.get("__name__") or ""
    filename = function.__code__.co_filename
    if _below(module, ENGINE) or any(_below(module, ignored) for ignored in _ignored):
        return False
    return not (filename.startswith("<frozen") or _in_library(filename))


@functools.lru_cache(maxsize=1024)
def _in_library(filename: str) -> bool:
    """Whether the file belongs to Python itself or to an installed package."""
    path = Path(filename)
    if {"site-packages", "dist-packages"} & set(path.parts):
        return True
    return any(path.is_relative_to(root) for root in _standard_library())


@functools.cache
def _standard_library() -> tuple[Path, ...]:
    roots = {
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("platstdlib"),
        str(Path(functools.__file__).parent),
    }
    return tuple(Path(root) for root in roots if root and Path(root) != Path(sys.prefix))


def _below(module: str, root: str) -> bool:
    return module == root or module.startswith(root + ".")
