"""The bundle's only program: ``model-studio``, and the Python of every process that it starts.

The studio starts its processes with ``sys.executable``: modules (``-m``), commands (``-c``) and scripts,
behind flags such as ``-I -S -B``, and those of multiprocessing. In a bundle that is this program, so it reads
Python's words, too. PyInstaller runs it before ``sys.path`` is known, so it imports little, not even
``__future__``.
"""

import os
import sys
from types import ModuleType, SimpleNamespace

_FLAGS = frozenset("bBdEIOPqsSuvx")
_WITH_VALUE = frozenset("WX")
_FORK = "--multiprocessing-fork"


class Request(SimpleNamespace):
    """What Python is asked for: ``kind`` is ``c``, ``m`` or ``script``, ``what`` the code, module or file.

    ``flags`` are the letters of its flags, ``warnings`` the values of ``-W``, ``rest`` the words after it.
    """

    kind: str
    what: str
    flags: frozenset[str]
    warnings: tuple[str, ...]
    rest: list[str]


def read_words(words: list[str]) -> Request | None:
    """What the words ask of Python; None where they are words of ``model-studio``."""
    flags: set[str] = set()
    warnings: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("-"):
            if flags or (word.endswith(".py") and os.path.isfile(word)):
                return Request(
                    kind="script", what=word, flags=frozenset(flags), warnings=(*warnings,), rest=left
                )
            return None
        for position, letter in enumerate(word[1:], 2):
            if letter in _FLAGS:
                flags.add(letter)
                continue
            value = word[position:] or (left.pop(0) if left else None)
            if value is None:
                return None
            if letter in "cm":
                return Request(
                    kind=letter, what=value, flags=frozenset(flags), warnings=(*warnings,), rest=left
                )
            if letter not in _WITH_VALUE:
                return None
            if letter == "W":
                warnings.append(value)
            break
        else:
            if len(word) == 1:  # "-"
                return None
    return None


def search_path(
    home: str, flags: frozenset[str], environment: dict[str, str], before: list[str]
) -> list[str]:
    """``sys.path`` without its first entry: the standard library, packages, and PYTHONPATH behind them.

    Python has PYTHONPATH in front. Here its folders belong to another Python, and what they contain must not
    replace the packages of the bundle.
    """
    library = os.path.join(home, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    path = [library, os.path.join(library, "lib-dynload"), *(each for each in before if each != home)]
    if "S" not in flags:
        path.append(os.path.join(library, "site-packages"))
        # The package model-studio-fast.
        fast = os.path.join(os.path.dirname(home), "fast")
        path += [fast] if os.path.isdir(fast) else []
    if not {"E", "I"} & flags:
        path += filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    return path


def _clean(environment: dict[str, str] | os._Environ[str]) -> None:
    """Remove what PyInstaller's loader has set for itself: other programs must not inherit it."""
    original = environment.get("LD_LIBRARY_PATH_ORIG")
    for name in [each for each in environment if each.startswith("_PYI_")]:
        del environment[name]
    environment.pop("LD_LIBRARY_PATH", None)
    if original is not None:
        del environment["LD_LIBRARY_PATH_ORIG"]
        environment["LD_LIBRARY_PATH"] = original


def _set_flags(flags: frozenset[str]) -> None:
    """Let ``sys.flags`` say what Python's would: PyInstaller starts every process isolated."""
    found = {name: getattr(sys.flags, name) for name in dir(sys.flags) if name[0] != "_" and name[:2] != "n_"}
    found.pop("count", None), found.pop("index", None)
    isolated = int("I" in flags)
    found.update(
        isolated=isolated,
        ignore_environment=isolated or int("E" in flags),
        no_user_site=1,
        no_site=int("S" in flags),
        safe_path=bool(isolated or "P" in flags),
        dont_write_bytecode=int("B" in flags),
    )
    sys.flags = SimpleNamespace(**found)  # type: ignore[assignment,misc]
    ignored = found["ignore_environment"]
    sys.dont_write_bytecode = "B" in flags or (
        not ignored and bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    )
    if "u" in flags or (not ignored and os.environ.get("PYTHONUNBUFFERED")):
        _unbuffer()


def _unbuffer() -> None:
    import io

    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        if stream is not None:
            stream.flush()
            raw = io.FileIO(number, "wb", closefd=False)
            fresh = io.TextIOWrapper(raw, stream.encoding, stream.errors, write_through=True)
            setattr(sys, name, fresh)
            setattr(sys, f"__{name}__", fresh)


def _run(request: Request) -> None:
    """Do as Python does with the request."""
    if request.warnings:
        import warnings

        sys.warnoptions += request.warnings
        warnings._processoptions(request.warnings)  # type: ignore[attr-defined]
    safe = {"I", "P"} & request.flags
    if request.kind == "m":
        import runpy

        sys.argv = ["-m", *request.rest]
        if not safe:
            sys.path.insert(0, os.getcwd())
        runpy._run_module_as_main(request.what)  # type: ignore[attr-defined]
        return
    module = ModuleType("__main__")
    if request.kind == "c":
        sys.argv = ["-c", *request.rest]
        source: str | bytes = request.what + "\n"
        file = "<string>"
        if not safe:
            sys.path.insert(0, "")
    else:
        from importlib.machinery import SourceFileLoader

        sys.argv = [request.what, *request.rest]
        file = os.path.abspath(request.what)
        try:
            with open(file, "rb") as opened:
                source = opened.read()
        except OSError as error:
            print(
                f"model-studio: can't open file {file!r}: [Errno {error.errno}] {error.strerror}",
                file=sys.stderr,
            )
            raise SystemExit(2) from None
        if not safe:
            sys.path.insert(0, os.path.dirname(os.path.realpath(file)))
        module.__file__ = file
        module.__loader__ = SourceFileLoader("__main__", file)
    sys.modules["__main__"] = module
    exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)


def _report() -> None:
    """Print the exception as Python does, without the frames of this file."""
    kind, error, trace = sys.exc_info()
    mine = _report.__code__.co_filename
    while trace is not None and trace.tb_next is not None and trace.tb_frame.f_code.co_filename == mine:
        trace = trace.tb_next
    assert kind is not None
    assert error is not None
    sys.excepthook(kind, error.with_traceback(trace), trace)


def main() -> None:
    """Serve the words of the command line."""
    home: str = sys._MEIPASS  # type: ignore[attr-defined]
    _clean(os.environ)
    words = sys.argv[1:]
    request = None if words[:1] == [_FORK] else read_words(words)
    flags = request.flags if request else frozenset()
    # Everything lies in folders, which Python's own finder reads: PyInstaller's can't list them.
    sys.path_hooks[:] = [each for each in sys.path_hooks if not each.__module__.startswith("pyimod")]
    sys.path_importer_cache.clear()
    sys.path = search_path(home, flags, dict(os.environ) if request else {}, sys.path)
    _set_flags(flags)
    # Else multiprocessing looks for this file, which is not installed.
    sys.modules["__main__"].__dict__.pop("__file__", None)
    try:
        if words[:1] == [_FORK]:
            from multiprocessing.spawn import freeze_support

            freeze_support()
        elif request:
            _run(request)
        else:
            # As for a script, of which Python puts the folder first: `run` replaces this entry.
            sys.path.insert(0, os.path.dirname(home))
            from studio.cli import main as studio

            studio()
    except SystemExit:
        raise
    except KeyboardInterrupt:
        import signal

        _report()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        _report()
        raise SystemExit(1) from None
    finally:
        # PyInstaller's loader flushes it; the process that multiprocessing starts for resources closes it.
        if sys.stdout is not None and sys.stdout.closed:
            sys.stdout = sys.__stdout__ = open(os.devnull, "w")  # noqa: SIM115


if __name__ == "__main__":
    main()
