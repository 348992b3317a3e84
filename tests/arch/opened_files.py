"""Finds in a source the calls that open a path for reading, except by ``resources.regular_files``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

# Functions by their last name: these take a path and nothing else, or a path by far more often.
_PATHS_ONLY = {
    "read_text": "Path.read_text",
    "read_bytes": "Path.read_bytes",
    "fromfile": "numpy.fromfile",
    "memmap": "numpy.memmap",
    "open_memmap": "numpy.lib.format.open_memmap",
    "loadtxt": "numpy.loadtxt",
    "genfromtxt": "numpy.genfromtxt",
    "mmap": "mmap.mmap",
    "run_path": "runpy.run_path",
    "spec_from_file_location": "importlib.util.spec_from_file_location",
    "SourceFileLoader": "SourceFileLoader",
    "getlines": "linecache.getlines",
    "getline": "linecache.getline",
    "copyfile": "shutil.copyfile",
    "copy2": "shutil.copy2",
    "copytree": "shutil.copytree",
    "QFile": "QFile",
    "QImageReader": "QImageReader",
}
# These take a path or a stream: what they get must be a stream that this function opened.
_PATHS_OR_STREAMS = {
    ("np", "load"),
    ("numpy", "load"),
    ("Image", "open"),
    ("zipfile", "ZipFile"),
    ("tarfile", "open"),
    ("gzip", "open"),
    ("gzip", "GzipFile"),
    ("bz2", "open"),
    ("bz2", "BZ2File"),
    ("lzma", "open"),
    ("lzma", "LZMAFile"),
    ("wave", "open"),
    ("h5py", "File"),
    ("shutil", "copy"),
    ("tokenize", "open"),
    ("", "QImage"),
    ("", "QPixmap"),
}
_STREAMS = {"open_regular", "open_regular_text", "BytesIO", "opened"}
_MODES = set("rwaxbt+")
# Annotations of a parameter that is a stream.
_STREAM_TYPES = ("BinaryIO", "TextIO", "IO", "BytesIO", "BufferedIOBase", "RawIOBase")


# A text without a call by one of these names needs no syntax tree: six of seven files have none.
_CALLS = re.compile(rf"\b({'|'.join({*_PATHS_ONLY, *(name for _, name in _PATHS_OR_STREAMS), 'open'})})\s*\(")


def opened_paths(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of each call that opens a path for reading in another way."""
    if _CALLS.search(source):
        yield from _in_scope(ast.parse(source), frozenset())


def _in_scope(scope: ast.AST, outer: frozenset[str]) -> Iterator[tuple[int, str]]:
    nodes = _own_nodes(scope)
    streams = outer | set(_stream_names(scope, nodes))
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _in_scope(node, streams)
        elif isinstance(node, ast.Call) and (name := _opens(node, streams)):
            yield node.lineno, name


def _own_nodes(scope: ast.AST) -> list[ast.AST]:
    """The nodes of a function, outer ones first, without those of the functions in it."""
    found: list[ast.AST] = []
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    waiting = [scope]
    while waiting:
        children = list(ast.iter_child_nodes(waiting.pop()))
        found += children
        waiting += (child for child in children if not isinstance(child, functions))
    return found


def _stream_names(scope: ast.AST, nodes: list[ast.AST]) -> Iterator[str]:
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        for argument in (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs):
            if argument.annotation is not None and _is_stream_type(argument.annotation):
                yield argument.arg
    for node in nodes:
        if isinstance(node, ast.withitem) and _is_stream(node.context_expr, frozenset()):
            named = [node.optional_vars]
        elif isinstance(node, ast.Assign) and _is_stream(node.value, frozenset()):
            named = list(node.targets)
        else:
            continue
        for target in named:
            yield from (name.id for name in ast.walk(target or ast.Pass()) if isinstance(name, ast.Name))


def _is_stream_type(annotation: ast.expr) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id in _STREAM_TYPES)
        or (isinstance(node, ast.Attribute) and node.attr in _STREAM_TYPES)
        for node in ast.walk(annotation)
    )


def _is_stream(node: ast.expr, streams: frozenset[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in streams
    if not isinstance(node, ast.Call):
        return False
    name = _name(node.func)[1]
    return name in _STREAMS or (
        name == "enter_context" and any(_is_stream(inner, streams) for inner in node.args)
    )


def _name(function: ast.expr) -> tuple[str, str]:
    """The last two names of what is called: ``("os", "open")``; ``?`` for an owner that has none."""
    if isinstance(function, ast.Name):
        return "", function.id
    if isinstance(function, ast.Attribute):
        return _name(function.value)[1] or "?", function.attr
    return "", ""


def _opens(call: ast.Call, streams: frozenset[str]) -> str:
    """The name of the function if it opens a path for reading; empty if not."""
    owner, name = _name(call.func)
    if (owner, name) in _PATHS_OR_STREAMS:
        given = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "fileobj")]
        known = not given or any(_is_stream(value, streams) for value in given)
        fits = known or _writes(call, 1) or _made_of_bytes(name, call)
        return "" if fits else f"{owner}.{name}".lstrip(".")
    if name in _PATHS_ONLY:
        return _PATHS_ONLY[name]
    if (owner, name) in {("", "open"), ("io", "open"), ("codecs", "open")}:
        return "" if _writes(call, 1) else "open"
    if (owner, name) == ("os", "open"):
        return "" if any("O_WRONLY" in ast.unparse(flags) for flags in call.args[1:2]) else "os.open"
    if name == "open" and isinstance(call.func, ast.Attribute):
        return "Path.open" if _is_path_open(call, owner) and not _writes(call, 0) else ""
    return ""


def _is_path_open(call: ast.Call, owner: str) -> bool:
    """Whether ``x.open(...)`` is that of a path: by its mode, its encoding, or by the name of x."""
    mode = _mode(call, 0)
    if mode is not None or {"encoding", "buffering", "errors"} & {word.arg for word in call.keywords}:
        return True
    return not call.args and (owner == "?" or "path" in owner.lower() or "file" in owner.lower())


def _mode(call: ast.Call, at: int) -> str | None:
    given = [*call.args[at : at + 1], *(word.value for word in call.keywords if word.arg == "mode")]
    for value in given:
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and set(value.value) <= _MODES:
            return value.value
    return None


def _writes(call: ast.Call, at: int) -> bool:
    mode = _mode(call, at)
    return mode is not None and mode[:1] in tuple("wax")


def _made_of_bytes(name: str, call: ast.Call) -> bool:
    """Whether an image is made of pixels and a size, or of nothing; one of a single value reads a file."""
    return name in {"QImage", "QPixmap"} and len(call.args) != 1
