"""Lock files: one holder, named in the file; without locks of the file system the text decides."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from resources import locks
from resources.locks import Holder, Lock, holder_of, take

HOLD = """
import sys
from pathlib import Path
from resources.locks import take
lock = take(Path(sys.argv[1]))
print(type(lock).__name__, flush=True)
sys.stdin.read()
"""


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    place = tmp_path / "a.lock"
    assert holder_of(place) is None
    first = take(place)
    assert isinstance(first, Lock)
    holder = take(place)
    assert isinstance(holder, Holder)
    assert (holder.pid, holder_of(place)) == (os.getpid(), holder)
    first.release()
    first.release()
    assert not place.exists()
    again = take(place)
    assert isinstance(again, Lock)
    again.release()


def test_a_killed_holder_holds_nothing(tmp_path: Path, repo_root: Path) -> None:
    place = tmp_path / "a.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(place)],
        cwd=repo_root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "Lock\n"
        for holder in (take(place), holder_of(place)):
            assert isinstance(holder, Holder)
            assert holder.pid == process.pid
        process.kill()
        process.wait()
    assert place.exists()
    assert holder_of(place) is None
    lock = take(place)
    assert isinstance(lock, Lock)
    lock.release()


@pytest.mark.parametrize("text", ["", "pid 1", "pid 1\nhost \x1b[31m\nsince now\n", "x" * 10**6])
def test_an_invalid_text_names_no_holder(tmp_path: Path, text: str) -> None:
    place = tmp_path / "a.lock"
    lock = take(place)
    assert isinstance(lock, Lock)
    place.write_text(text)
    assert str(take(place)) == "another process"
    lock.release()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "mine"
    target.write_text("mine")
    (tmp_path / "a.lock").symlink_to(target)
    with pytest.raises(OSError, match=r"a\.lock"):
        take(tmp_path / "a.lock")
    assert target.read_text() == "mine"


@pytest.mark.parametrize(
    ("pid", "host", "held"),
    [("self", "here", False), ("parent", "here", True), ("gone", "here", False), ("gone", "elsewhere", True)],
)
def test_without_locks_the_text_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pid: str, host: str, held: bool
) -> None:
    monkeypatch.setattr(locks, "hold", lambda descriptor, shared=False: None)
    monkeypatch.setattr(locks, "_host", lambda: "here")
    pids = {"self": os.getpid(), "parent": os.getppid(), "gone": 2**31 - 1}
    place = tmp_path / "a.lock"
    place.write_text(f"pid {pids[pid]}\nhost {host}\nsince 2026-01-02 03:04:05\n")
    assert (holder_of(place) is not None) is held
    assert isinstance(take(place), Holder if held else Lock)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows locks bytes")
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", flock)
    place = tmp_path / "a.lock"
    first = take(place)
    assert isinstance(first, Lock)
    first.release(keep=True)
    place.write_text(place.read_text().replace(f"pid {os.getpid()}", f"pid {os.getppid()}"))
    held = take(place)
    assert isinstance(held, Holder)
    assert (held.pid, holder_of(place)) == (os.getppid(), held)
