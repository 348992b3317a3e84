"""The names of ``six`` that scripts for Python 2 and 3 use, for processes in which it is not installed."""

from __future__ import annotations

import functools
import importlib
import io
import operator
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object

_MODULES = {
    "builtins": "builtins",
    "cPickle": "pickle",
    "collections_abc": "collections.abc",
    "configparser": "configparser",
    "copyreg": "copyreg",
    "html_parser": "html.parser",
    "http_client": "http.client",
    "queue": "queue",
    "socketserver": "socketserver",
    "urllib": "urllib",
    "urllib.error": "urllib.error",
    "urllib.parse": "urllib.parse",
    "urllib.request": "urllib.request",
    "urllib_parse": "urllib.parse",
    "_thread": "_thread",
}
_NAMES = {
    "BytesIO": "io:BytesIO",
    "StringIO": "io:StringIO",
    "UserDict": "collections:UserDict",
    "UserList": "collections:UserList",
    "cStringIO": "io:StringIO",
    "filter": "builtins:filter",
    "filterfalse": "itertools:filterfalse",
    "getcwd": "os:getcwd",
    "input": "builtins:input",
    "intern": "sys:intern",
    "map": "builtins:map",
    "range": "builtins:range",
    "reduce": "functools:reduce",
    "reload_module": "importlib:reload",
    "shlex_quote": "shlex:quote",
    "xrange": "builtins:range",
    "zip": "builtins:zip",
    "zip_longest": "itertools:zip_longest",
}


def install() -> None:
    """From here on ``import six`` works without that package; one that is installed is used."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


class _Finder:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in ("six", "six.moves"):
            return ModuleSpec(fullname, _Loader(), is_package=True)
        name = fullname.removeprefix("six.moves.")
        return ModuleSpec(fullname, _Loader()) if name != fullname and name in _MODULES else None


class _Loader(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ == "six":
            module.__dict__.update(_six(), __getattr__=_missing)
        elif module.__name__ == "six.moves":
            module.__dict__["__getattr__"] = _moved
        else:
            sys.modules[module.__name__] = _moved(module.__name__.removeprefix("six.moves."))


def _missing(name: str) -> Any:
    """``six.moves``, which needs no separate import; an error for other names."""
    if name == "moves":
        return importlib.import_module("six.moves")
    raise AttributeError(
        f"six.{name}: is not among the names that replace six here; install six, or use what Python 3 "
        "calls it"
    )


def _moved(name: str) -> Any:
    """The module or function that ``six.moves`` has under ``name``."""
    if name in _MODULES:
        for each in ("error", "parse", "request") if name == "urllib" else ():
            importlib.import_module(f"urllib.{each}")
        return importlib.import_module(_MODULES[name])
    module, _, found = _NAMES.get(name, "").partition(":")
    if not found:
        raise AttributeError(
            f"six.moves.{name}: is not among the names that replace six here; install six, or use "
            "what Python 3 calls it"
        )
    return getattr(importlib.import_module(module), found)


def _six() -> dict[str, Any]:
    """The names of the module itself."""
    return {
        "PY2": False,
        "PY3": True,
        "PY34": True,
        "MAXSIZE": sys.maxsize,
        "BytesIO": io.BytesIO,
        "StringIO": io.StringIO,
        "binary_type": bytes,
        "class_types": (type,),
        "integer_types": (int,),
        "string_types": (str,),
        "text_type": str,
        "unichr": chr,
        "advance_iterator": next,
        "next": next,
        "callable": callable,
        "Iterator": object,
        "iteritems": lambda of, **kw: iter(of.items(**kw)),
        "iterkeys": lambda of, **kw: iter(of.keys(**kw)),
        "iterlists": lambda of, **kw: iter(of.lists(**kw)),
        "itervalues": lambda of, **kw: iter(of.values(**kw)),
        "viewitems": operator.methodcaller("items"),
        "viewkeys": operator.methodcaller("keys"),
        "viewvalues": operator.methodcaller("values"),
        "b": lambda text: text.encode("latin-1"),
        "u": lambda text: text,
        "int2byte": lambda number: bytes((number,)),
        "byte2int": operator.itemgetter(0),
        "indexbytes": operator.getitem,
        "iterbytes": iter,
        "ensure_binary": _ensure_binary,
        "ensure_str": _ensure_text,
        "ensure_text": _ensure_text,
        "exec_": exec,
        "print_": print,
        "raise_from": _raise_from,
        "reraise": _reraise,
        "wraps": functools.wraps,
        "add_metaclass": _add_metaclass,
        "with_metaclass": _with_metaclass,
        "python_2_unicode_compatible": lambda kind: kind,
        "create_bound_method": lambda function, of: function.__get__(of),
        "create_unbound_method": lambda function, kind: function,
        "get_function_closure": operator.attrgetter("__closure__"),
        "get_function_code": operator.attrgetter("__code__"),
        "get_function_defaults": operator.attrgetter("__defaults__"),
        "get_function_globals": operator.attrgetter("__globals__"),
        "get_method_function": operator.attrgetter("__func__"),
        "get_method_self": operator.attrgetter("__self__"),
        "get_unbound_function": lambda function: function,
    }


def _ensure_binary(value: str | bytes, encoding: str = "utf-8", errors: str = "strict") -> bytes:
    return value.encode(encoding, errors) if isinstance(value, str) else value


def _ensure_text(value: str | bytes, encoding: str = "utf-8", errors: str = "strict") -> str:
    return value.decode(encoding, errors) if isinstance(value, bytes) else value


def _raise_from(value: BaseException, cause: BaseException | None) -> None:
    raise value from cause


def _reraise(kind: type[BaseException], value: BaseException | None, trace: Any = None) -> None:
    raise (kind() if value is None else value).with_traceback(trace)


def _with_metaclass(meta: type, *bases: type) -> type:
    """A base whose subclasses are made by ``meta`` of ``bases``."""

    class Placeholder(type):
        def __new__(cls, name: str, _: tuple[type, ...], namespace: dict[str, Any]) -> Any:
            return meta(name, bases, namespace)

    return type.__new__(Placeholder, "temporary_class", (), {})


def _add_metaclass(meta: type) -> Callable[[type], type]:
    def wrapper(kind: type) -> type:
        namespace = {k: v for k, v in vars(kind).items() if k not in ("__dict__", "__weakref__")}
        made: type = meta(kind.__name__, kind.__bases__, namespace)
        return made

    return wrapper
