"""Runs a script written for Paddle: ``python -m engine.run SCRIPT``; its ``import paddle`` is the engine.

A script of Paddle 1.x starts in static mode, as then, and finds the names that Pillow has dropped since.
Its ``import six`` works without that package.
"""

from __future__ import annotations

import builtins
import difflib
import importlib.util
import itertools
import os
import runpy
import sys
import sysconfig
import traceback
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from engine.core import alias
from engine.core.alias import distutils, six
from engine.core.alias.generation import is_old
from engine.core.alias.missing import message_for
from engine.core.errors import DeviceError, EngineError
from engine.core.place import REDIRECT
from resources.own_packages import claim_names, taken_names
from resources.regular_files import LARGE_FILE, read_regular

MODES = ("static", "dynamic")
DEVICES = ("cpu", "auto", "gpu")
_USAGE = (
    "usage: python -m engine.run [--mode static|dynamic] [--device cpu|auto|gpu[:N]] (SCRIPT | -m MODULE) "
    "[ARGS]"
)
_OPTIONS = {"--mode": MODES, "--device": DEVICES}
# Names that Pillow 10 dropped, with those of the same filters.
_PILLOW = {"ANTIALIAS": "LANCZOS", "LINEAR": "BILINEAR", "CUBIC": "BICUBIC"}
_ENGINE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_INSTALLED = tuple({sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``SCRIPT [ARGS]`` or ``-m MODULE [ARGS]``; the exit status is the script's, or 2 where there is no
    such script."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    chosen: dict[str, str] = {}
    while words and words[0].partition("=")[0] in _OPTIONS:
        option, equals, value = words.pop(0).partition("=")
        value = value if equals or not words else words.pop(0)
        number = value.partition("gpu:")[2] if option == "--device" else ""
        if value not in _OPTIONS[option] and not number.isdigit():
            print(
                f"run: {option}: {value!r} is not known; use {' or '.join(_OPTIONS[option])}", file=sys.stderr
            )
            return 2
        chosen[option] = value
    asked = words[:1] in (["-h"], ["--help"])
    how: Callable[[str, Sequence[str], str | None, str | None], int] = run_script
    if words[:1] == ["-m"]:
        words, how = words[1:], run_module
    if not words or asked:
        print(_USAGE, file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    return how(words[0], words[1:], chosen.get("--mode"), chosen.get("--device"))


def run_script(
    path: str, arguments: Sequence[str] = (), mode: str | None = None, device: str | None = None
) -> int:
    """Run the Python file at ``path`` as ``__main__``, with ``sys.argv`` and ``sys.path[0]`` as Python sets
    them and ``import paddle`` resolved to the engine, here and in processes it spawns with multiprocessing.

    ``mode`` "static" or "dynamic" is the mode that it starts in; by default static for a script of Paddle
    1.x, which imports ``paddle.fluid`` and nothing of 2.0. ``device`` "cpu" sends work meant for a GPU to the
    CPU, also in processes that it starts; "gpu", "gpu:1" or "auto" (a GPU where there is one, else the CPU,
    with a line on stderr) is where its tensors are made until it says otherwise.

    The process is the script's from then on: ``__main__``, ``sys.argv`` and ``sys.path`` stay as it leaves
    them. Returns the exit status. A name that Paddle's modules lack here fails with one line on stderr; other
    exceptions show the traceback without the engine's own frames, unless the engine itself is at fault.
    """
    try:
        source = read_regular(path, LARGE_FILE)
    except OSError as error:
        print(f"run: can't open the script: {path}: {error.strerror}; check the path", file=sys.stderr)
        return 2
    file_name = os.path.abspath(path)
    main_module = ModuleType("__main__")
    main_module.__dict__.update(
        __file__=file_name,
        __builtins__=builtins,
        __loader__=SourceFileLoader("__main__", file_name),
        __spec__=None,
        __cached__=None,
        __annotations__={},
    )
    sys.argv = [path, *arguments]
    _set_path(file_name)
    _report_taken_names(source, os.path.dirname(os.path.realpath(file_name)))
    if not _prepare(source, mode, device):
        return 1
    sys.modules["__main__"] = main_module
    return _status(lambda: exec(compile(source, file_name, "exec", dont_inherit=True), main_module.__dict__))


def run_module(
    name: str, arguments: Sequence[str] = (), mode: str | None = None, device: str | None = None
) -> int:
    """Run the module ``name`` as ``python -m`` does, one of Paddle's too (``paddle.distributed.launch``).

    The rest is as in ``run_script``; the exit status is 2 where there is no such module.
    """
    claim_names()
    if not sys.flags.safe_path:
        sys.path[:1] = [os.getcwd()]
    alias.install()
    real = alias.real_name(name)
    try:
        spec = importlib.util.find_spec(real)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{real}.__main__")
    except ModuleNotFoundError:  # a package that it lies in
        spec = None
    if spec is None:
        print(f"run: there is no module {name} that can be run; check the name", file=sys.stderr)
        return 2
    source = getattr(spec.loader, "get_source", lambda _: None)(spec.name)
    if alias.CHILDREN_PATH not in sys.path:
        sys.path.insert(0 if sys.flags.safe_path else 1, alias.CHILDREN_PATH)
    _report_taken_names(source or "", os.getcwd())
    if not _prepare(source or "", mode, device):
        return 1
    sys.argv = [name, *arguments]
    return _status(lambda: runpy.run_module(real, run_name="__main__", alter_sys=True))


def _prepare(source: str | bytes, mode: str | None, device: str | None) -> bool:
    """Make ``import paddle`` the engine, and set what a script of this source starts with.

    False where the device can't be used, which was printed.
    """
    alias.install()
    six.install()
    distutils.install()
    if device == "cpu":
        os.environ[REDIRECT] = device
    elif device is not None and not _start_on(device):
        return False
    old = is_old(source)
    if mode == "static" or (mode is None and old):
        from engine.framework import enable_static

        enable_static()
    if old or (b"ANTIALIAS" if isinstance(source, bytes) else "ANTIALIAS") in source:  # type: ignore[operator]
        _bring_back_filters()
    return True


def _start_on(device: str) -> bool:
    """Make it the device of new tensors; False where it can't be used. Prints that, or the fallback."""
    from engine.core.devices import use

    try:
        used = use(device)
    except DeviceError as error:
        print(f"run: {error}", file=sys.stderr)
        return False
    if used.fallback:
        print(f"run: {used.fallback}", file=sys.stderr)
    return True


def _bring_back_filters() -> None:
    """Give Pillow's module the names of filters that scripts of Paddle 1.x use."""
    from PIL import Image

    for name, same in _PILLOW.items():
        if not hasattr(Image, name):
            setattr(Image, name, getattr(Image.Resampling, same))


def _status(body: Callable[[], object]) -> int:
    """The exit status of the script that ``body`` runs, whose errors are reported."""
    try:
        body()
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
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, "<frozen runpy>"):
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
        frames.pop()  # a module only reported that the user's name is missing
    if not frames or _is_engines(frames[-1].filename):
        return None
    said = message_for(error)
    # Not the text that a script gave to exec, but the line that did so.
    user = [frame for frame in frames if not frame.filename.startswith("<")] or frames
    return None if said is None else f"{user[-1].filename}:{user[-1].lineno}: {said}"


def _report_taken_names(source: str | bytes, folder: str) -> None:
    """Say which modules of a script's folder it can't import by their names; one rank of a job does."""
    if os.environ.get("PADDLE_TRAINER_ID", "0") == "0":
        for line in taken_names(source, Path(folder)):
            print(f"run: {line}", file=sys.stderr)


def _set_path(file_name: str) -> None:
    """First the script's folder, instead of what Python put there for the caller, then ``paddle`` for
    processes that the script spawns."""
    root = os.path.dirname(_ENGINE.rstrip(os.sep))
    claim_names()
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
    if isinstance(error, SyntaxError | KeyboardInterrupt):
        return False
    if isinstance(error, EngineError) and not error.unattributed:
        return False
    ours = False
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, AttributeError) and frames and frames[-1].name == "__getattr__":
        frames.pop()  # an object of the engine only reported that the user's name is missing
    if isinstance(error, UnboundLocalError) and frames and frames[-1].name == "fail":
        # A converted function said so of the user's variable.
        while frames and _is_engines(frames[-1].filename):
            frames.pop()
    for frame in frames:
        # What the engine calls in installed packages is its doing; what it calls back in the script is not.
        ours = _is_engines(frame.filename) or (ours and frame.filename.startswith(("<", *_INSTALLED)))
    return ours


def _leave_out_engine(shown: traceback.TracebackException) -> None:
    """Take the engine's frames out of a traceback and of those it names as cause or context, and with them
    those of installed modules before and behind them, such as of ``with`` or of waiting for a thread."""
    frames: list[traceback.FrameSummary] = []
    for inside, stretch in itertools.groupby(shown.stack, lambda frame: _is_between(frame.filename)):
        found = list(stretch)
        if not (inside and any(_is_engines(frame.filename) for frame in found)):
            frames += found
    shown.stack = traceback.StackSummary.from_list(frames)
    if _is_inside(shown.__cause__):
        shown.__cause__ = None
    if _is_inside(shown.__context__):
        shown.__context__ = None
    for other in (shown.__cause__, shown.__context__, *(shown.exceptions or ())):
        if other is not None:
            _leave_out_engine(other)


def _is_inside(shown: traceback.TracebackException | None) -> bool:
    """Whether an exception came up and was caught within the engine, whose own message says why."""
    if shown is None or not shown.stack:
        return False
    return all(_is_between(frame.filename) for frame in shown.stack)


def _is_between(file_name: str) -> bool:
    """Whether a file is the engine's or one that it calls, and not one of the user's."""
    return _is_engines(file_name) or file_name.startswith(("<frozen ", *_INSTALLED))


if __name__ == "__main__":
    sys.exit(main())
