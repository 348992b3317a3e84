"""The checks that tests/conftest.py puts around every test do fail when there is something to find."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = """
import gc, logging, os, subprocess, sys, threading, warnings

import pytest

KEPT = []

@pytest.fixture
def skips(): pytest.skip("by a fixture")

def test_bad_log(): logging.getLogger("sample").warning("unexpected")
def test_good_log(caplog): logging.getLogger("sample").warning("read by the test")
def test_bad_thread(): threading.Thread(target=threading.Event().wait, daemon=True).start()
def test_bad_assert():
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    assert KEPT == "one error, though the thread is left"
def test_good_thread(): threading.Thread(target=threading.Event().wait, args=(0.1,)).start()
def test_bad_child(): KEPT.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
def test_good_child(): subprocess.run([sys.executable, "-c", ""], check=True)
def test_bad_warning(): warnings.warn("unexpected")
def test_skipped(skips): ...
def test_good_capture_of_qt_messages():
    names = [type(each).__name__ for each in gc.get_objects()]
    assert names.count("_QtMessageCapture") <= 1, "that of the skipped test still collects"
def test_good_home(): assert "model-studio-tests-" in os.path.expanduser("~")
"""


@pytest.mark.parametrize("hide_qt", [False, True], ids=["with Qt", "Qt hidden"])
def test_each_check_finds_its_fault(hide_qt: bool, tmp_path: Path, repo_root: Path) -> None:
    for name in ("conftest.py", "hide_qt"):
        source = repo_root / "tests" / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    (tmp_path / "tests").mkdir()
    for name in ("compiling.py", "each.py", "peak_memory.py", "tiers.py"):
        shutil.copy(repo_root / "tests" / name, tmp_path / "tests")
    shutil.copy(repo_root / "pyproject.toml", tmp_path)
    (tmp_path / "test_samples.py").write_text(SAMPLES, encoding="utf-8")
    env = {"MODEL_STUDIO_TEST_GRACE": "0.6"}
    env |= {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    options = ["-p", "no:pytest-qt"] if hide_qt else []
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", *options, "test_samples.py"],
        cwd=tmp_path,
        env=env | ({"MODEL_STUDIO_HIDE_QT": "1"} if hide_qt else {}),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    lines = done.stdout.splitlines()
    failed = {line.split("::")[1].split()[0] for line in lines if line.startswith(("FAILED", "ERROR"))}
    assert failed == {f"test_bad_{name}" for name in ("log", "thread", "assert", "child", "warning")}, (
        done.stdout
    )
    assert "2 failed, 8 passed, 1 skipped, 3 errors" in lines[-1], lines[-1]


def test_hidden_qt_is_hidden_in_child_processes_too(repo_root: Path) -> None:
    hidden = os.environ | {"PYTHONPATH": str(repo_root / "tests" / "hide_qt")}
    code = "import PySide6"
    plain = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    without = subprocess.run([sys.executable, "-c", code], env=hidden, capture_output=True, check=False)
    assert (plain.returncode, without.returncode) == (0, 1)
    assert b"hidden in this run" in without.stderr
