"""What every test gets: its own home, fixed seeds, the data folders, a check on what it leaves behind."""

from __future__ import annotations

import ctypes
import gc
import itertools
import linecache
import logging
import multiprocessing
import os
import runpy
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from resources.words import use_language
from tests.compiling import SharedCompiling
from tests.each import fix_seeds
from tests.peak_memory import PeakMemory, resident
from tests.tiers import Tiers

ROOT = Path(__file__).resolve().parent.parent
# Seconds that a thread or child process may take to end after its test.
GRACE = float(os.environ.get("MODEL_STUDIO_TEST_GRACE", "2"))
HIDE_QT = bool(os.environ.get("MODEL_STUDIO_HIDE_QT"))

# Before Qt, NumPy or the studio is imported anywhere: no test needs a screen, sums are added up in one order
# whatever the machine (a test about threads says how many), two workers share two cores, and nothing is
# written to the real home of the user.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_SCALE_FACTOR", "1")
# Tests read English texts, also where the computer speaks another language.
os.environ["LANGUAGE"] = "en"
# Tests of compiled kernels choose them and wait; elsewhere it would depend on the clock who computes.
os.environ.setdefault("MODEL_STUDIO_KERNELS", "numpy")
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Freed arrays go back to the system at once, in all workers: the engine would retain them, which makes steps
# faster and a worker of thousands of different tests a tenth larger. Its own test starts without this.
os.environ.setdefault("MALLOC_ARENA_MAX", "1")

# Hundreds of processes that tests start import the engine: without bytecode each compiles it again, and each
# worker rewrites the assertions of every test file. Git ignores what is written.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No power is cut in tests, so what they write need not be on the disk before they continue. Tests of the
# order of syncs count the calls; processes that tests start do sync.
os.fsync = lambda fd: None

_HOME = Path(tempfile.mkdtemp(prefix="model-studio-tests-"))
_USER_DIRS = {
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_STATE_HOME": "state",
    "XDG_RUNTIME_DIR": "runtime",
}
_PLATFORMDIRS_WINDOWS = ("APPDATA", "LOCAL_APPDATA", "COMMON_APPDATA")


def _isolate_home() -> None:
    for variable, folder in _USER_DIRS.items():
        (_HOME / folder).mkdir(mode=0o700)
        os.environ[variable] = str(_HOME / folder)
    os.environ["HOME"] = os.environ["USERPROFILE"] = str(_HOME)
    for name in _PLATFORMDIRS_WINDOWS:
        os.environ[f"WIN_PD_OVERRIDE_{name}"] = str(_HOME / "data")


_isolate_home()

if HIDE_QT:
    _hider = Path(__file__).parent / "hide_qt"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_hider), os.environ.get("PYTHONPATH")]))
    runpy.run_path(str(_hider / "sitecustomize.py"))
    # The folders that are about Qt itself.
    collect_ignore = [
        "widgets",
        "studio/windows",
        "studio/controllers",
        "studio/language",
        "studio/program",
        "studio/test_app.py",
    ]
    # What takes long and imports nothing that the other tests of session and command line do not; that no
    # function of theirs imports Qt, called or not, is checked by the import contracts.
    collect_ignore += [
        "studio/cli/checkpoints",
        "studio/cli/explain",
        "studio/cli/export",
        "studio/cli/sweep",
        "studio/cli/test_signals.py",
        "studio/cli/test_trust.py",
        "studio/session/checkpoints",
        "studio/session/code",
        "studio/session/explain",
        "studio/session/predict",
        "studio/session/project/test_session_script.py",
        "studio/session/runs/report",
        "studio/session/sweep",
        "studio/session/train/test_mistakes.py",
        "studio/session/train/test_stall_detector.py",
        "studio/session/work",
        "studio/test_full_disk.py",
    ]
    # Tests of whole commands and of child processes that import no further module.
    _deselected = [
        f"tests/studio/{name}"
        for name in (
            "session/test_worker.py::test_a_users_model",
            "session/test_worker.py::test_a_mistake",
            "session/test_worker.py::test_a_killed_child",
            "session/test_worker.py::test_closing",
            "session/test_worker.py::test_cancel",
            "session/test_worker.py::test_pause",
            "session/test_worker.py::test_a_crash",
            "cli/test_cli.py::test_an_untrusted",
            "cli/test_cli.py::test_an_optimized",
            "cli/test_cli.py::test_predict_",
            "cli/test_cli.py::test_a_second_train",
            "cli/test_cli.py::test_resume",
            "cli/test_cli.py::test_a_training_that",
        )
    ]


if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # Started in the background of a script. pytest still ignores it, but processes that tests start do not
    # inherit a handler, and tests that send it to them find the default.
    signal.signal(signal.SIGINT, lambda number, frame: None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--deep", action="store_true", help="every test, those of tests/tiers.py too (CI)")
    parser.addoption("--deep-only", action="store_true", help="only those tests that --deep adds")
    parser.addoption("--long", action="store_true", help="as --deep, with the full counts of cases (hours)")
    if HIDE_QT:  # pytest-qt is off then (-p no:pytest-qt), so its settings in pyproject.toml need a reader.
        parser.addini("qt_api", "ignored while Qt is hidden")
        parser.addini("qt_log_level_fail", "ignored while Qt is hidden")
        parser.addini("qt_log_ignore", "ignored while Qt is hidden", type="linelist")


def pytest_configure(config: pytest.Config) -> None:
    if HIDE_QT:
        config.option.deselect = [*(config.option.deselect or ()), *_deselected]
    if config.getoption("--long"):
        # Test modules read it while they are imported, in workers and in child processes too.
        os.environ["MODEL_STUDIO_LONG"] = "1"
    deep, only = config.getoption("--deep") or config.getoption("--long"), config.getoption("--deep-only")
    config.pluginmanager.register(Tiers(deep, only, config.getoption("--long")), "model-studio-tiers")
    config.pluginmanager.register(PeakMemory(), "model-studio-peak-memory")
    if SharedCompiling.helps(config):
        config.pluginmanager.register(SharedCompiling(), "model-studio-shared-compiling")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getoption("dist") != "load":
        return None
    from tests.both_ends import BothEnds  # pytest-xdist is there: it asks

    return BothEnds(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        from tests.both_ends import ordered

        items[:] = ordered(items)


def pytest_collection() -> None:
    gc.disable()  # nothing that is loaded is garbage, and looking for it takes a seventh of the time


def pytest_collection_finish() -> None:
    """What is loaded now stays to the end: tests that call the garbage collector need not wait for it."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.collect()  # Python waits with the next full collection for a quarter of what this one finds
    _give_back_memory()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Clean up after a test and its fixtures.

    pytest-qt ends its capture of messages after a test's call only: if a fixture skipped the test or failed,
    the capture would collect the messages of all later tests. Peaks of files must not add up: the C library
    would hold the memory that one file freed until the process ends.
    """
    capture = item.__dict__.pop("qt_log_capture", None)
    if capture is not None:
        capture._stop()
    try:
        return (yield)
    finally:
        # Objects of Qt in cycles are freed here: within a call of Qt, a collection could wait for itself.
        growth = _GROWTH_OF_WINDOWS if _uses_qt(item.path) else _GROWTH
        if nextitem is None or nextitem.path != item.path or resident() > _in_use + growth:
            _give_back_memory(growth)


_GROWTH, _GROWTH_OF_WINDOWS = 32 << 20, 8 << 20
_in_use = 0


def _uses_qt(path: Path) -> bool:
    return "widgets" in path.parts or "studio" in path.parts


def _give_back_memory(growth: int = _GROWTH_OF_WINDOWS) -> None:
    """Free what is no longer used; what is in cycles only where that is much, because looking takes long."""
    global _in_use
    # PySide reads the source of each module that is imported after it, and linecache holds all that was read.
    for name in [name for name in linecache.cache if os.path.isfile(name)]:
        del linecache.cache[name]
    if resident() > _in_use + growth:
        gc.collect()
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if hasattr(libc, "malloc_trim"):  # glibc
        libc.malloc_trim(0)
    _in_use = resident()


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(_HOME, ignore_errors=True)


# ----- where things are -----------------------------------------------------------------------------------


def _folder_from(variable: str, what: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set: {what}")
    folder = Path(value)
    if not folder.is_dir():
        pytest.fail(f"{variable}: no such folder: {folder}; unset it or correct it", pytrace=False)
    return folder


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of data sets (``mnist/`` in it); the test is skipped where there is none."""
    return _folder_from("MODEL_STUDIO_DATA", "this test needs the real data sets")


@pytest.fixture(scope="session")
def seeds_dir() -> Path:
    """The folder of the specification documents; the test is skipped where there is none."""
    return _folder_from("MODEL_STUDIO_SEEDS", "this test compares with the specification documents")


@pytest.fixture(scope="session")
def repo_root() -> Path:
    """The top of the working tree."""
    return ROOT


# ----- what holds for each test ----------------------------------------------------------------------------


_homes = itertools.count()


@pytest.fixture(autouse=True)
def _what_holds_for_each_test(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """One fixture for all of it: each takes a tenth of a millisecond, for thousands of tests."""
    _own_user_dirs(monkeypatch)
    fix_seeds()
    with _no_unexpected_logs(request), _nothing_left_running(request), _back_to_eager():
        yield
    use_language("en")


def _own_user_dirs(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees settings, runs or state of another; only the cache (built digits) is shared.

    The folders are named, not made: most tests never look, and pytest's ``mktemp`` lists all that is there.
    """
    home = _HOME / "tests" / str(next(_homes))
    for variable, folder in _USER_DIRS.items():
        if variable not in ("XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
            monkeypatch.setenv(variable, str(home / folder))


class _Collector(logging.Handler):
    """Keeps every record of level WARNING or above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextmanager
def _no_unexpected_logs(request: pytest.FixtureRequest) -> Iterator[None]:
    """A warning in the log that the test did not ask for fails it, like a Python warning does."""
    collector = _Collector()
    root = logging.getLogger()
    root.addHandler(collector)
    try:
        yield
    finally:
        root.removeHandler(collector)
    expected = request.node.get_closest_marker("logs") or "caplog" in request.fixturenames
    if collector.records and not expected:
        lines = [f"{r.levelname} {r.name}: {r.getMessage()}" for r in collector.records]
        pytest.fail("\n".join(["unexpected log lines (mark the test 'logs', or use caplog):", *lines]))


def _children() -> set[int]:
    """Process ids of this process's living children; Python's own helper processes are left out."""
    pids: set[int] = set()
    for task in os.listdir("/proc/self/task") if sys.platform == "linux" else ():
        try:
            with open(f"/proc/self/task/{task}/children") as file:
                pids.update(map(int, file.read().split()))
        except OSError:
            continue  # that thread has just ended
    alive = set()
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if state != "Z" and b"multiprocessing.resource_tracker" not in command:
            alive.add(pid)
    return alive


def _wait_until_gone(threads: list[threading.Thread], pids: set[int]) -> set[int]:
    deadline = time.monotonic() + GRACE
    for thread in threads:
        # One that compiles a kernel ends with it, which takes seconds on a busy machine.
        more = 10 * GRACE if thread.name == "kernel compiler" else 0.0
        thread.join(max(0.0, deadline + more - time.monotonic()))
    while pids and time.monotonic() < deadline:
        threading.Event().wait(0.02)
        multiprocessing.active_children()  # reaps those that have ended
        pids = pids & _children()
    return pids


_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[_FAILED] = item.stash.get(_FAILED, False) or report.failed
    return report


@contextmanager
def _nothing_left_running(request: pytest.FixtureRequest) -> Iterator[None]:
    """A thread or child process that outlives its test fails it (after a moment to end by itself).

    A test that has failed already may not have come to where it ends them.
    """
    threads_before, children_before = set(threading.enumerate()), _children()
    yield
    if request.node.get_closest_marker("leaves_threads"):
        return
    threads = [
        thread
        for thread in threading.enumerate()
        # A "dummy" thread is one that Python did not start, such as a worker of Qt's pool.
        if thread not in threads_before and not isinstance(thread, threading._DummyThread)
    ]
    children = _wait_until_gone(threads, _children() - children_before)
    left = [f"thread {thread.name}" for thread in threads if thread.is_alive()]
    left += [f"child process {pid}" for pid in sorted(children)]
    if left and not request.node.stash.get(_FAILED, False):
        pytest.fail("still running after the test: " + ", ".join(left))


@contextmanager
def _back_to_eager() -> Iterator[None]:
    """A test that turns static mode on must turn it off again; the next test is not made to pay for it."""
    yield
    engine = sys.modules.get("engine")
    if engine is None or not hasattr(engine, "in_dynamic_mode") or engine.in_dynamic_mode():
        return
    engine.disable_static()
    pytest.fail("the test left static mode on: call disable_static()")


# ----- Qt --------------------------------------------------------------------------------------------------


if not HIDE_QT:

    @pytest.fixture(scope="session")
    def readable_font(qapp: object) -> None:
        """Qt ships no fonts: name one that is really there, so that texts have a width on a bare machine."""
        from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication

        families = set(QFontDatabase.families())
        if not families:
            pytest.fail("Qt finds no font on this machine: install one (Debian: fonts-dejavu-core)")
        if QGuiApplication.font().family() not in families:
            wanted = [name for name in ("DejaVu Sans", "Noto Sans", "Liberation Sans") if name in families]
            QGuiApplication.setFont(QFont((wanted or sorted(families))[0], 10))

    @pytest.fixture(autouse=True)
    def _font_of_windows(request: pytest.FixtureRequest) -> None:
        if "qapp" in request.fixturenames:
            request.getfixturevalue("readable_font")
