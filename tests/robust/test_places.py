"""Locales, unusual paths, two users, file systems without locks: a command runs, or says one sentence."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.arch.repository_files import ROOT

MODEL = """# \u0131\u0130\u015f \u4e2d\u6587
import paddle
from paddle import nn


class Ince(nn.Layer):
    def __init__(self):
        super().__init__()
        self.INCE = nn.Linear(64, 3)

    def forward(self, x):
        return self.INCE(paddle.flatten(x, 1))
"""
CHILD = Path(__file__).with_name("place_commands.py")
NAME = "\u0131\u0130\u015f\u011f \u4e2d\u6587"


def write_files(folder: bytes) -> None:
    """Data, a model and an image in a folder whose name may be in any encoding."""
    os.makedirs(folder)
    draw = np.random.default_rng(0)
    arrays = {
        f"{name}_{part}": values
        for part, count in (("train", 16), ("test", 8))
        for name, values in (
            ("x", draw.integers(0, 255, (count, 8, 8)).astype(np.uint8)),
            ("y", (np.arange(count) % 3).astype(np.uint8)),
        )
    }
    with open(os.path.join(folder, b"d.npz"), "wb") as file:
        np.savez(file, **arrays)
    with open(os.path.join(folder, b"i.png"), "wb") as file:
        Image.fromarray(arrays["x_test"][0]).save(file, "png")
    with open(os.path.join(folder, b"m.py"), "wb") as file:
        file.write(MODEL.encode())


@pytest.fixture(scope="module")
def locales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of compiled locales, which systems rarely have."""
    folder = tmp_path_factory.mktemp("locales")
    if not shutil.which("localedef") or not Path("/usr/share/i18n/locales/tr_TR").exists():
        pytest.skip("localedef and the sources of locales are missing")
    for language, characters in (("tr_TR", "UTF-8"), ("zh_CN", "GB18030")):
        target = folder / f"{language}.{characters}"
        subprocess.run(
            ["localedef", "-i", language, "-f", characters, target], capture_output=True, check=True
        )
    return folder


def run_commands(folder: bytes, environment: dict[str, str]) -> None:
    """Each command succeeds in ``folder``, with nothing on stderr."""
    write_files(folder)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **environment}
    environment.pop("LC_CTYPE", None)
    command = [os.fsencode(sys.executable), os.fsencode(CHILD), folder]
    done = subprocess.run(command, env=environment, cwd="/", capture_output=True, stdin=subprocess.DEVNULL)
    output = done.stdout.decode("utf-8", "backslashreplace")
    ended = [line for line in output.splitlines() if line[:2] in ("0 ", "1 ", "2 ")]
    commands = ["train", "train", "runs", "runs", "export", "inspect", "predict", "report"]
    assert ended == [f"0 {name}" for name in commands], done.stderr.decode("utf-8", "backslashreplace")
    assert done.stderr == b""


# Each locale with a path that few programs expect.
PLACES: dict[str, tuple[dict[str, str], bytes]] = {
    "tr_TR.UTF-8": ({}, NAME.encode() + b"/new\nline\r\x1b[31m"),
    "zh_CN.GB18030": ({}, NAME.encode() + b"/" + b"n" * 255),
    # Without these Python takes UTF-8 for C.
    "C": ({"PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, b"/".join([b"p" * 200] * 20)[:3780]),
}


@pytest.mark.parametrize("name", PLACES)
def test_commands_run_in_a_locale_and_an_unusual_folder(name: str, locales: Path, tmp_path: Path) -> None:
    environment, folder = PLACES[name]
    environment = {"LC_ALL": name, "LANG": name, "LOCPATH": str(locales), **environment}
    run_commands(os.path.join(os.fsencode(tmp_path), folder), environment)


def test_commands_run_in_a_folder_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    run_commands(os.path.join(os.fsencode(tmp_path), b"by\xfftes"), {"LC_ALL": "C.UTF-8"})


# ----- two users on one folder -----


def without_privileges() -> None:
    """Let root be a user as others are: no program that starts from here may override permissions."""
    library = ctypes.CDLL(None)
    for capability in range(41):
        library.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


TRAIN = ["train", "--data", "digits", "--model", "lenet", "--epochs", "1", "--samples", "64"]
OTHER_USER = 4321


def call(user: Path, umask: int, *words: str | Path, other: bool = False) -> subprocess.CompletedProcess[str]:
    """A command of a user whose home is ``user``; ``other``: not the user who owns the folder."""
    places = {f"XDG_{name}_HOME": str(user / name) for name in ("DATA", "CONFIG", "STATE", "CACHE")}
    return subprocess.run(
        [sys.executable, "-m", "studio", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), **places},
        umask=umask,
        preexec_fn=without_privileges if other else None,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of another user, who trained and exported there with the usual umask."""
    if sys.platform != "linux" or os.getuid() != 0:
        pytest.skip("only root can give files to another user")
    folder = tmp_path_factory.mktemp("shared")
    home = tmp_path_factory.mktemp("home")
    assert call(home, 0o022, *TRAIN, "--out", folder / "run").returncode == 0
    assert call(home, 0o022, "export", folder / "run").returncode == 0
    for path in (folder, *folder.rglob("*")):
        os.chown(path, OTHER_USER, OTHER_USER, follow_symlinks=False)
    folder.chmod(0o777)
    return folder


@pytest.mark.parametrize("readable", [True, False], ids=["readable", "private"])
def test_two_users_share_a_folder(shared: Path, tmp_path: Path, readable: bool) -> None:
    run = shared / "run"
    if not readable:  # as the umask 077 leaves it
        for path in (run, *run.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)
    before = {path: path.read_bytes() for path in shared.rglob("*") if path.is_file()}

    def second(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return call(tmp_path / "b", 0o022, *words, other=True)

    listed = second("runs", "--in", shared)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert ("LeNet" in listed.stdout) == readable
    for words in (
        [*TRAIN, "--out", run],
        ["train", "--resume", "--out", run, "--epochs", "2"],
        ["sweep", *TRAIN[1:], "--param", "lr=0.1,0.2", "--out", run / "sweep"],
        ["inspect", run / "inference/model"],
    ):
        done = second(*words)
        if words[0] == "inspect" and readable:
            assert (done.returncode, done.stderr) == (0, "")
            continue
        assert done.returncode == 1, words
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert "ermission denied; " in done.stderr
        assert "Error" not in done.stderr
    assert {path: path.read_bytes() for path in shared.rglob("*") if path.is_file()} == before


# ----- file systems without locks -----

WITHOUT_LOCKS = """
import fcntl, os, sys
number = int(sys.argv.pop(1))
def flock(descriptor, operation):
    raise OSError(number, os.strerror(number))
fcntl.flock = flock
from studio.cli import main
main()
"""


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EIO], ids=lambda number: errno.errorcode[number])
def test_commands_run_without_locks(number: int, tmp_path: Path) -> None:
    """A second training in the folder is refused by the text of the lock file, as long as the first lives."""
    out = tmp_path / "run"

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", WITHOUT_LOCKS, str(number), *map(str, words)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    done = run(*TRAIN, "--out", out)
    if number == errno.EIO:
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
        assert "could not be saved: input/output error; " in done.stderr
        return
    assert (done.returncode, done.stderr) == (0, "")
    (out / "run.lock").write_text(
        f"pid {os.getpid()}\nhost {os.uname().nodename}\nsince 2027-01-01 00:00:00\n"
    )
    held = run("train", "--resume", "--out", out, "--epochs", "2")
    assert (held.returncode, len(held.stderr.splitlines())) == (1, 1)
    assert f"process {os.getpid()}" in held.stderr
    (out / "run.lock").unlink()
    for words in (
        ["train", "--resume", "--out", out, "--epochs", "2"],
        ["export", out],
        ["runs", "--in", tmp_path],
    ):
        done = run(*words)
        assert (done.returncode, done.stderr) == (0, ""), words
    assert not (out / "run.lock").exists()
