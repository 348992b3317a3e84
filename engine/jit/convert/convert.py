"""The way in: `convert(function)` gives the function that builds `cond` and `while_loop` where its conditions
are Tensors.

The converted tree is compiled under the user's own file name and line numbers, so tracebacks point at the
user's source. The new code object runs with the function's own globals, defaults and closure cells; only one
cell is added, `_jst`, through which the code reaches the runtime.
"""

from __future__ import annotations

import ast
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Generic, TypeVar, cast

from engine.core.delegate import delegate
from engine.core.errors import ConversionError
from engine.core.raw_errors import body_of
from engine.jit.convert.compiling import compiled
from engine.jit.convert.passes import PASSES
from engine.jit.convert.quote import copied
from engine.jit.convert.scope import RUNTIME
from engine.jit.convert.source import Source, find_source
from engine.jit.convert.transform import Context, reason_to_leave
from engine.jit.convert.translator_log import log, show_code

Value = TypeVar("Value")
CO_OPTIMIZED = 0x1
CO_SUSPENDS = 0x20 | 0x80 | 0x200  # generator, coroutine, asynchronous generator


@dataclass(frozen=True)
class ConvertedFunction:
    """A converted function with its original.

    `function` is called like the original. `code` is the converted source as text, `original_source` the
    source as written (without its indentation), `filename` and `first_line` say where.
    """

    function: Callable[..., Any]
    code: str
    original_source: str
    filename: str
    first_line: int


@dataclass(frozen=True)
class _Conversion:
    code: CodeType
    text: str
    source: Source


def convert(function: Callable[..., Any]) -> ConvertedFunction:
    """Convert a Python function, a lambda or a bound method; what it calls is converted when it is called.

    Raises ConversionError where the source can't be read, or where the function is a generator, a coroutine,
    or otherwise of a kind that has no converted form (it names file, line, construct and remedy).
    """
    if isinstance(function, MethodType):
        inner = convert(function.__func__)
        bound = MethodType(inner.function, function.__self__)
        return ConvertedFunction(bound, inner.code, inner.original_source, inner.filename, inner.first_line)
    if not isinstance(function, FunctionType):
        raise ConversionError(
            f"convert: {function!r} is not a Python function: {type(function).__name__}; "
            "give a function, a lambda or a method written in Python"
        )
    function = body_of(function)
    conversion = _conversions.get(function.__code__)
    if conversion is None:
        # One thread converts at a time: two that need the same function get one conversion, and linecache,
        # which sources are read through, is not made for several threads.
        with _converting:
            conversion = _conversions.get(function.__code__)
            if conversion is None:
                conversion = _convert(function)
                _conversions.put(function.__code__, conversion)
    source = conversion.source
    return ConvertedFunction(
        _bind(function, conversion.code), conversion.text, source.text, source.filename, source.first_line
    )


def pass_by_pass(function: Callable[..., Any]) -> list[tuple[str, str]]:
    """The source after every pass that changed it, first `("original", ...)`, for people to look at."""
    plain = cast(FunctionType, function.__func__ if isinstance(function, MethodType) else function)
    source = find_source(body_of(plain))
    tree, context = _prepared(source)
    shown = [("original", readable(tree))]
    for name, transform in PASSES:
        tree = transform(tree, context)
        text = readable(tree)
        if text != shown[-1][1]:
            shown.append((name, text))
    return shown


def is_converted(code: CodeType) -> bool:
    """Whether the code object came out of a conversion (nested functions are converted with the function
    around).
    """
    return _made.get(code) is not None


def readable(tree: ast.AST) -> str:
    """The tree as text for people: a nested function has an empty line on either side."""
    lines: list[str] = []
    open_functions: list[int] = []
    for line in ast.unparse(tree).splitlines():
        indent = len(line) - len(line.lstrip())
        if line.strip():
            ended = False
            while open_functions and indent <= open_functions[-1]:
                open_functions.pop()
                ended = True
            if ended and lines[-1]:
                lines.append("")
            if line.lstrip().startswith("def "):
                open_functions.append(indent)
        lines.append(line)
    return "\n".join(lines)


def _prepared(source: Source) -> tuple[ast.Module, Context]:
    node = copied(source.node)
    reason = reason_to_leave(node)
    if reason is not None:
        what, line = reason
        raise ConversionError(
            f"{source.filename}:{line}: `{source.name}` can't be converted: it holds {what}; "
            "write that part as a plain function, or mark the function with `not_to_static`"
        )
    assert not isinstance(node, ast.AsyncFunctionDef)
    if isinstance(node, ast.FunctionDef):
        node.decorator_list = []  # the function object at hand is the one below its decorators
        tree = ast.Module([node], [])
    else:
        tree = ast.Module([ast.copy_location(ast.Expr(node), node)], [])
    context = Context.of(tree, source.filename, source.class_name)
    if RUNTIME in context.taken:
        raise ConversionError(
            f"{source.filename}:{source.first_line}: `{source.name}` uses the name `{RUNTIME}`, "
            "which converted code uses itself; rename it"
        )
    return tree, context


def _convert(function: FunctionType) -> _Conversion:
    source = find_source(function)
    tree, context = _prepared(source)
    try:
        for _, transform in PASSES:
            tree = transform(tree, context)
        code, text = compiled(tree, function.__code__, source, context), readable(tree)
    except RecursionError as error:
        raise ConversionError(
            f"{source.filename}:{source.first_line}: `{source.name}` nests branches and loops too deeply "
            "to be converted; move a part into a function of its own"
        ) from error
    _remember(code)
    log(f"{source.filename}:{source.first_line}: converted `{source.name}`")
    show_code(source.name, lambda: pass_by_pass(function))
    return _Conversion(code, text, source)


def _remember(code: CodeType) -> None:
    _made.put(code, True)
    for constant in code.co_consts:
        # Bodies of classes are left as they are, and so are the functions in them.
        if (
            isinstance(constant, CodeType)
            and constant.co_flags & CO_OPTIMIZED
            and not constant.co_flags & CO_SUSPENDS
        ):
            _remember(constant)


def _bind(function: FunctionType, code: CodeType) -> FunctionType:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[RUNTIME] = CellType(runtime())
    closure = tuple(cells[name] for name in code.co_freevars)
    bound = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    bound.__kwdefaults__ = function.__kwdefaults__
    bound.__qualname__ = function.__qualname__
    bound.__module__ = function.__module__
    bound.__doc__ = function.__doc__
    bound.__annotations__ = function.__annotations__
    bound.__dict__.update(function.__dict__)
    return bound


@delegate("engine.jit.convert.runtime.jst")
def runtime() -> ModuleType:
    """What converted code calls. It converts what such code calls in turn, so each needs the other."""
    raise NotImplementedError


class _ByCode(Generic[Value]):
    """Values by code object, dropped with it; by identity, since equal ones may come from different files."""

    def __init__(self) -> None:
        self._values: dict[int, tuple[weakref.ref[CodeType], Value]] = {}

    def get(self, code: CodeType) -> Value | None:
        entry = self._values.get(id(code))
        return entry[1] if entry is not None and entry[0]() is code else None

    def put(self, code: CodeType, value: Value) -> None:
        key = id(code)
        self._values[key] = (weakref.ref(code, lambda _: self._values.pop(key, None)), value)


_converting = threading.RLock()
_conversions: _ByCode[_Conversion] = _ByCode()
_made: _ByCode[bool] = _ByCode()
