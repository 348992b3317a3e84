"""Runs a script written for Paddle: ``python -m engine.run SCRIPT``; its ``import paddle`` is the engine."""

from __future__ import annotations

import builtins
import difflib
import os
import sys
import sysconfig
import traceback
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from types import ModuleType

from engine.core import alias
from engine.core.alias.missing import asked_for
from engine.core.errors import EngineError

_USAGE = "usage: python -m engine.run SCRIPT [ARGS]"
_ENGINE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_INSTALLED = tuple({sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``SCRIPT [ARGS]``; the exit status is the script's, or 2 where there is no such script."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help"):
        print(_USAGE, file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    return run_script(words[0], words[1:])


def run_script(path: str, arguments: Sequence[str] = ()) -> int:
    """Run the Python file at ``path`` as ``__main__``, with ``sys.argv`` and ``sys.path[0]`` as Python sets
    them and ``import paddle`` resolved to the engine, here and in processes it spawns with multiprocessing.

    The process is the script's from then on: ``__main__``, ``sys.argv`` and ``sys.path`` stay as it leaves
    them. Returns the exit status. A name that Paddle's modules lack here fails with one line on stderr; other
    exceptions show the traceback without the engine's own frames, unless the engine itself is at fault.
    """
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        print(f"run: can't open the script: {path}: {error.strerror}; check the path", file=sys.stderr)
        return 2
    file_name = os.path.abspath(path)
    main_module = ModuleType("__main__")
    main_module.__dict__.update(
        __file__=file_name, __builtins__=builtins, __loader__=SourceFileLoader("__main__", file_name),
        __spec__=None, __cached__=None, __annotations__={},
    )  # fmt: skip
    sys.argv = [path, *arguments]
    _set_path(file_name)
    alias.install()
    sys.modules["__main__"] = main_module
    try:
        exec(compile(source, file_name, "exec", dont_inherit=True), main_module.__dict__)
    except SystemExit as leave:
        if leave.code is None or isinstance(leave.code, int):
            return leave.code or 0
        print(leave.code, file=sys.stderr)
        return 1
    except BaseException as error:
        report(error)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def report(error: BaseException) -> None:
    """Write what went wrong to stderr: one line for a missing name, else a traceback of the user's frames."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace
    line = missing_name(error)
    if line is not None:
        print(line, file=sys.stderr)
    elif sys.excepthook is not sys.__excepthook__:  # the script's own
        sys.excepthook(type(error), error, trace)
    else:
        shown = traceback.TracebackException.from_exception(error)
        if not _is_engines_fault(error):
            _leave_out_engine(shown)
        print("".join(shown.format()).rstrip("\n") + _meant(error), file=sys.stderr)


def _meant(error: BaseException) -> str:
    """What Python adds to a traceback where a name is missing; its ``traceback`` does so from 3.12 on."""
    if sys.version_info >= (3, 12) or not isinstance(error, AttributeError) or not error.name:
        return ""
    near = difflib.get_close_matches(error.name, (n for n in dir(error.obj) if n != error.name), 1)
    return f". Did you mean: {near[0]!r}?" if near else ""


def missing_name(error: BaseException) -> str | None:
    """``file:line: paddle.NAME: ...`` where ``error`` says that the engine lacks a name which the user's line
    asks for; None for other errors."""
    frames = traceback.extract_tb(error.__traceback__)
    while isinstance(error, AttributeError) and frames and frames[-1].name == "__getattr__":
        frames.pop()  # a module only said that the user's name is not there
    if not frames or _is_engines(frames[-1].filename):
        return None
    said = asked_for(error)
    # Not the text that a script gave to exec, but the line that did so.
    user = [frame for frame in frames if not frame.filename.startswith("<")] or frames
    return None if said is None else f"{user[-1].filename}:{user[-1].lineno}: {said}"


def _set_path(file_name: str) -> None:
    """First the script's folder, instead of what Python put there for the caller, then ``paddle`` for
    processes that the script spawns."""
    root = os.path.dirname(_ENGINE.rstrip(os.sep))
    before = sys.path[:1]
    if not sys.flags.safe_path:
        sys.path[:1] = [os.path.dirname(os.path.realpath(file_name))]
    if alias.CHILDREN_PATH not in sys.path:
        sys.path.insert(0 if sys.flags.safe_path else 1, alias.CHILDREN_PATH)
    if before == [root] and root not in sys.path:  # run in the source tree, not installed
        sys.path.append(root)


def _is_engines(file_name: str) -> bool:
    return file_name.startswith((_ENGINE, "<apply ", "<plan>"))  # the latter two it writes itself


def _is_engines_fault(error: BaseException) -> bool:
    """Whether ``error`` came up in the engine or in what it calls, and was not raised there on purpose."""
    if isinstance(error, EngineError | SyntaxError | KeyboardInterrupt):
        return False
    ours = False
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, AttributeError) and frames and frames[-1].name == "__getattr__":
        frames.pop()  # an object of the engine only said that the user's name is not there
    if isinstance(error, UnboundLocalError) and frames and frames[-1].name == "fail":
        # A converted function said so of the user's variable.
        while frames and _is_engines(frames[-1].filename):
            frames.pop()
    for frame in frames:
        # What the engine calls in installed packages is its doing; what it calls back in the script is not.
        ours = _is_engines(frame.filename) or (ours and frame.filename.startswith(("<", *_INSTALLED)))
    return ours


def _leave_out_engine(shown: traceback.TracebackException) -> None:
    """Take the engine's frames out of a traceback and of those it names as cause or context."""
    frames = [frame for frame in shown.stack if not _is_engines(frame.filename)]
    shown.stack = traceback.StackSummary.from_list(frames)
    for other in (shown.__cause__, shown.__context__, *(shown.exceptions or ())):
        if other is not None:
            _leave_out_engine(other)


if __name__ == "__main__":
    sys.exit(main())
