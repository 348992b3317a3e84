"""A model in a process of its own: the same numbers, limits, cancelling, crashes, children that lie."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import jit, nn
from engine.core.errors import (
    AbsentError,
    CancelledError,
    EngineError,
    FormatError,
    LimitError,
    ProgramError,
    ShapeError,
    UnreadyError,
)
from engine.core.models.limits import ModelLimits
from engine.files.untrusted import limits as file_limits
from engine.inference import child_process, process
from engine.inference.process import ModelProcess
from tests.robust.untrusted_models import Endless, Hungry, image, saved, unsign

POSIX = pytest.mark.skipif(os.name == "nt", reason="needs signals of POSIX")
# Nothing inside the engine stops a loop before the process's own limit does.
PATIENT = ModelLimits(seconds=1e6, steps=10**17)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    network = nn.Sequential(nn.Conv2D(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 26 * 26, 10))
    return unsign(saved(network, tmp_path_factory.mktemp("model") / "model"))


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unsign(saved(Endless(), tmp_path_factory.mktemp("endless") / "endless"))


@pytest.fixture
def images() -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).random((5, 1, 28, 28), np.float32)


def test_an_untrusted_model_gives_the_same_numbers(model: Path, images: np.ndarray[Any, Any]) -> None:
    wanted = jit.load(str(model))(images).numpy()
    with ModelProcess(model) as apart:
        described = apart.load()
        assert (described.own, described.info["info"]["classes"]) == (False, list("0123456789"))
        first = apart.pid
        for _ in range(2):
            (found,) = apart.run([images])
            assert found.dtype == wanted.dtype
            assert np.array_equal(found, wanted)
        with pytest.raises(ShapeError):  # an error of the model is raised as it is, and the child continues
            apart.run([images[:, :, :5]])
        assert np.array_equal(apart.run([images])[0], wanted)
        assert apart.pid == first
        plain, text = apart.program()
        assert text == str(jit.load(str(model)).program())
        assert plain["blocks"][0]["ops"][0]["type"] == "conv2d"
    assert apart.pid == 0
    with pytest.raises(UnreadyError, match="closed"):
        apart.run([images])


def test_own_models_have_no_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = saved(Endless(), tmp_path / "own")
    monkeypatch.setattr(ModelProcess, "_limits_for", lambda *args: pytest.fail("limits for an own model"))
    with ModelProcess(prefix) as apart:
        assert apart.load().own
        (found,) = apart.run([image(0.0)])
        assert np.array_equal(found, jit.load(str(prefix))(image(0.0)).numpy())


def test_an_endless_model_is_ended_and_started_again(endless: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MORE_SECONDS", 0.5)
    with ModelProcess(endless, PATIENT) as apart:
        calm = apart.run([image(0.1)])[0]
        first = apart.pid
        apart.limits = ModelLimits(seconds=0.1)
        begin = time.monotonic()
        with pytest.raises(LimitError, match=r"seconds|iterations|steps"):
            apart.run([image(1.0)])
        assert time.monotonic() - begin < 5
        apart.limits = PATIENT
        assert np.array_equal(apart.run([image(0.1)])[0], calm)
        assert apart.pid != 0
        assert first


@POSIX
def test_an_idle_child_that_is_killed_is_reaped(model: Path, images: np.ndarray[Any, Any]) -> None:
    with ModelProcess(model) as process_of_model:
        process_of_model.load()
        child = process_of_model.pid
        os.kill(child, signal.SIGKILL)
        until = time.monotonic() + 20
        with suppress(ProcessLookupError):
            while time.monotonic() < until:
                os.kill(child, 0)
                time.sleep(0.01)
        with pytest.raises(ProcessLookupError):  # a zombie still has its id
            os.kill(child, 0)
        assert process_of_model.run([images])[0].shape == (5, 10)
        assert process_of_model.pid not in (0, child)
    assert not [each for each in threading.enumerate() if each.name == "model-process-reaper"]


def test_a_request_is_cancelled_from_another_thread(endless: Path) -> None:
    with ModelProcess(endless, PATIENT) as apart:
        apart.load()
        ended: list[Any] = []

        def ask() -> None:
            with pytest.raises(CancelledError, match="a run was cancelled"):
                apart.run([image(1.0)])
            ended.append(time.monotonic())

        thread = threading.Thread(target=ask)
        thread.start()
        while not apart._requests.locked():
            time.sleep(0.01)
        time.sleep(0.05)
        begin = time.monotonic()
        apart.cancel()
        thread.join(10)
        assert ended[0] - begin < 1.0
        assert apart.pid == 0


def test_a_result_beyond_the_memory_is_an_error(tmp_path: Path) -> None:
    prefix = unsign(saved(Hungry(), tmp_path / "hungry"))
    # So much may the engine's own meter allow: what stops it is the process's limit.
    with ModelProcess(prefix) as apart:
        calm = apart.run([image(1e-5)])[0]
        with pytest.raises(LimitError, match="memory"):
            apart.run([image(1.0)])
        assert np.array_equal(apart.run([image(1e-5)])[0], calm)


@POSIX
def test_the_child_ends_with_its_parent_in_the_middle_of_a_run(endless: Path) -> None:
    code = (
        "import sys, threading, time\n"
        "from engine.core.models.limits import ModelLimits\n"
        "from engine.inference.process import ModelProcess\n"
        "from tests.robust.untrusted_models import image\n"
        "apart = ModelProcess(sys.argv[1], ModelLimits(seconds=1e6, steps=10**17))\n"
        "apart.load()\n"
        "threading.Thread(target=apart.run, args=([image(1.0)],), daemon=True).start()\n"
        "time.sleep(0.2)\n"
        "print(apart.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    root = Path(__file__).resolve().parents[3]
    parent = subprocess.Popen(
        [sys.executable, "-c", code, str(endless)], cwd=root, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    os.kill(child, 0)
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 10
    while _alive(child):
        assert time.monotonic() < deadline, "the child outlives its parent"
        time.sleep(0.02)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:  # a zombie that no process has waited for is dead too
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_errors_in_files_are_the_same_in_a_child_process(model: Path, tmp_path: Path) -> None:
    with ModelProcess(tmp_path / "nothing") as apart, pytest.raises(AbsentError, match="none of the three"):
        apart.load()
    for path in model.parent.iterdir():
        data = bytearray(path.read_bytes())
        if path.suffix == ".pdiparams":
            data[-100] ^= 1
        (tmp_path / path.name).write_bytes(data)
    with ModelProcess(tmp_path / "model") as apart, pytest.raises(FormatError, match=r"pdiparams: .*damaged"):
        apart.load()
    assert apart.pid == 0


# Scripts in place of the child's own, which a model might have taken over. They say what a child says.
PRELUDE = """
import json, os, struct, sys, time
out = os.fdopen(1, "wb", closefd=False)
def say(said, arrays=(), data=b""):
    text = json.dumps({"said": said, "arrays": list(arrays)}).encode()
    out.write(struct.pack("<4sI", b"MSM1", len(text)) + text + data)
    out.flush()
def hear():
    length = struct.unpack("<4sI", sys.stdin.buffer.read(8))[1]
    return json.loads(sys.stdin.buffer.read(length))
sys.stdin.buffer.readline()
"""
READY = (
    "say({'ready': True}); hear(); say({'save_id': 'x', 'info': {}}); hear(); sys.stdin.buffer.read(3136)\n"
)
FLOATS = "{'dtype': 'float32', 'shape': [%s]}"
LIARS = {
    "out.write(b'nonsense' * 99); out.flush(); time.sleep(60)": (FormatError, "sent an invalid reply"),
    "out.write(struct.pack('<4sI', b'MSM1', 2**31)); out.flush(); time.sleep(60)": (
        FormatError,
        "no message",
    ),
    "out.write(struct.pack('<4sI', b'MSM1', 10**6) + b'[' * 10**6); out.flush()": (FormatError, "not JSON"),
    "out.write(struct.pack('<4sI', b'MSM1', 2) + b'[]'); out.flush()": (FormatError, "fields are not those"),
    f"say({{}}, [{FLOATS % '2**40'}])": (LimitError, "too large"),
    f"say({{}}, [{FLOATS % '2**20'}] * 5000)": (EngineError, "too large|gone|crash"),
    f"say({{}}, [{FLOATS % '-1'}])": (FormatError, "not the shape"),
    f"say({{}}, [{FLOATS % '1.5'}])": (FormatError, "not the shape"),
    f"say({{}}, [{FLOATS % '*[1] * 65'}])": (FormatError, "not an array"),
    "say({}, [{'dtype': 'object', 'shape': [1]}], b'12345678')": (FormatError, "not an array"),
    "say({}, [3])": (FormatError, "not an array"),
    "say({'error': 'SystemExit', 'message': 'x'})": (ProgramError, "SystemExit: x"),
    "say({'error': '__loader__', 'message': 'x'})": (ProgramError, "__loader__: x"),
    "say({'error': 'AbsentError', 'message': 'why'})": (AbsentError, "why"),
    "say({'error': 'MemoryError', 'message': ''})": (LimitError, "takes more than the"),
    "say({'error': 'ImportError', 'message': 'lib.so: failed to map segment'})": (
        LimitError,
        "limit memory=268 MB gives it; .*1074 MB",
    ),
    "say({'error': 'ImportError', 'message': 'no module x'})": (EngineError, "ImportError: no module x"),
    "say({'error': 'ZeroDivisionError', 'message': 'by zero'})": (ZeroDivisionError, "by zero"),
    f"say({{}}, [{FLOATS % '4'}], b'123')": (ProgramError, "exit code 0"),
    "sys.exit(3)": (ProgramError, "made its process crash.*exit code 3"),
    f"os._exit({file_limits.TOO_MUCH_MEMORY})": (LimitError, "takes more than the"),
    "time.sleep(60)": (LimitError, "a run took over 0.3"),
    **(
        {}
        if os.name == "nt"
        else {
            "os.abort()": (ProgramError, "SIGABRT"),
            "os.kill(os.getpid(), 11)": (ProgramError, "SIGSEGV"),
            "os.kill(os.getpid(), 24)": (LimitError, "a run took over"),
        }
    ),
}


@pytest.mark.parametrize("script", LIARS)
def test_a_child_that_was_taken_over_gets_nowhere(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    (tmp_path / "child.py").write_text(PRELUDE + READY + script)
    monkeypatch.setattr(child_process, "SCRIPT", tmp_path / "child.py")
    monkeypatch.setattr(process, "MORE_SECONDS", 0.2)
    kind, message = LIARS[script]
    monkeypatch.setattr(ModelProcess, "_limits_for", lambda self, inputs: self.limits)
    limits = ModelLimits(seconds=0.1 if "sleep(60)" in script and "out" not in script else 30.0)
    with ModelProcess(model, limits) as apart, pytest.raises(kind, match=message) as raised:
        apart.run([image(0.0)])
    if kind is not ZeroDivisionError:
        assert isinstance(raised.value, EngineError)
        assert "\n" not in str(raised.value)


def test_files_that_were_replaced_are_not_mixed_up(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process, "SCRIPT", tmp_path / "child.py")
    with ModelProcess(model) as apart:
        (tmp_path / "child.py").write_text(PRELUDE + READY)
        apart.load()
        apart.cancel()
        (tmp_path / "child.py").write_text(PRELUDE + READY.replace("'x'", "'y'"))
        with pytest.raises(FormatError, match="replaced since they were loaded"):
            apart.run([image(0.0)])


@POSIX
def test_a_run_that_was_interrupted_does_not_answer_the_next_one(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = "time.sleep(0.5); say({}, [{'dtype': 'uint8', 'shape': [1]}], b'1'); hear(); time.sleep(60)"
    (tmp_path / "child.py").write_text(PRELUDE + READY + slow)
    monkeypatch.setattr(child_process, "SCRIPT", tmp_path / "child.py")
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with ModelProcess(model) as apart:
            apart.load()
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                apart.run([image(0.0)])
            assert apart.pid == 0
    finally:
        signal.signal(signal.SIGALRM, before)


WATCHED = """
import sys, time, types
engine = sys.modules["engine"] = types.ModuleType("engine")
engine.__path__ = [sys.argv[1]]
from engine.files.untrusted.limits import watch_memory
watch_memory(50_000_000)
data = []
for _ in range(int(sys.argv[2])):
    data.append(b"1" * 10_000_000)
    time.sleep(0.01)
time.sleep(10 if int(sys.argv[2]) > 5 else 0.1)  # the watcher ends it before
"""


@POSIX
@pytest.mark.parametrize(("blocks", "code"), [(2, 0), (60, file_limits.TOO_MUCH_MEMORY)])
def test_memory_is_watched_where_the_system_does_not_limit_it(blocks: int, code: int) -> None:
    folder = str(Path(__file__).resolve().parents[3] / "engine")
    done = subprocess.run([sys.executable, "-c", WATCHED, folder, str(blocks)], check=False, timeout=60)
    assert done.returncode == code
