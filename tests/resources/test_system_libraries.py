"""The libraries that Qt needs of the system: what is missing, and what to install."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from resources.system_libraries import PACKAGES, library_problem

NOT_LIBRARIES = {"python3-venv", "fonts-dejavu-core"}


class Loader:
    """Loads everything but the libraries that are missing, and what needs them."""

    def __init__(self, *missing: str) -> None:
        self._missing = missing

    def __call__(self, name: str) -> None:
        found = (
            self._missing if name == "/qt/libqxcb.so" else [each for each in self._missing if each == name]
        )
        if found:
            raise OSError(f"{found[0]}: cannot open shared object file: No such file or directory")


def test_the_packages_are_those_of_the_readme(repo_root: Path) -> None:
    text = (repo_root / "README.md").read_text(encoding="utf-8")
    line = next(each for each in text.splitlines() if each.startswith("sudo apt install "))
    assert set(line.removeprefix("sudo apt install ").split()) == PACKAGES.keys() | NOT_LIBRARIES


@pytest.mark.parametrize(
    ("missing", "problem"),
    [
        ((), ""),
        (
            ("libxcb-cursor.so.0",),
            "libxcb-cursor.so.0 is missing; install: sudo apt install libxcb-cursor0",
        ),
        (
            ("libEGL.so.1", "libgthread-2.0.so.0"),
            "libEGL.so.1, libgthread-2.0.so.0 are missing; install: sudo apt install libegl1 libglib2.0-0",
        ),
        # One that comes with the packages of the README.
        (("libX11.so.6",), "Qt can't load libX11.so.6"),
    ],
)
def test_missing_libraries_are_reported_with_their_packages(missing: tuple[str, ...], problem: str) -> None:
    assert library_problem("/qt/libqxcb.so", Loader(*missing)) == problem


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="about libraries of Linux")
@pytest.mark.parametrize("chosen", ["", "xcb"])
def test_a_window_without_a_library_ends_with_one_line(repo_root: Path, tmp_path: Path, chosen: str) -> None:
    """An empty file that is found first cannot be loaded, as one that is missing."""
    (tmp_path / "libxcb-cursor.so.0").touch()
    with socket.socket(socket.AF_UNIX) as server:  # a display that answers
        server.bind(f"\0/tmp/.X11-unix/X{os.getpid()}")
        server.listen()
        env = {**os.environ, "DISPLAY": f":{os.getpid()}", "LD_LIBRARY_PATH": str(tmp_path)}
        env.pop("WAYLAND_DISPLAY", None)
        env["QT_QPA_PLATFORM"] = chosen
        done = subprocess.run(
            [sys.executable, "-m", "studio"],
            cwd=repo_root,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "no window can be opened here: libxcb-cursor.so.0 is missing; install: sudo apt install "
        "libxcb-cursor0; train without one: model-studio train --out DIR"
    ]
