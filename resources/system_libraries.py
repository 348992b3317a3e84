"""The system libraries that the window needs on Linux: the packages of the README, with their libraries."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

# Package of Debian and Ubuntu -> the libraries that Qt needs of it. A test compares the README's line.
PACKAGES: dict[str, tuple[str, ...]] = {
    "libegl1": ("libEGL.so.1",),
    "libgl1": ("libGL.so.1",),
    "libglib2.0-0": ("libglib-2.0.so.0", "libgthread-2.0.so.0"),
    "libdbus-1-3": ("libdbus-1.so.3",),
    "libfontconfig1": ("libfontconfig.so.1",),
    "libxkbcommon0": ("libxkbcommon.so.0",),
    "libxkbcommon-x11-0": ("libxkbcommon-x11.so.0",),
    "libxcb-cursor0": ("libxcb-cursor.so.0",),
    "libxcb-icccm4": ("libxcb-icccm.so.4",),
    "libxcb-image0": ("libxcb-image.so.0",),
    "libxcb-keysyms1": ("libxcb-keysyms.so.1",),
    "libxcb-randr0": ("libxcb-randr.so.0",),
    "libxcb-render-util0": ("libxcb-render-util.so.0",),
    "libxcb-shape0": ("libxcb-shape.so.0",),
    "libxcb-xkb1": ("libxcb-xkb.so.1",),
}

Load = Callable[[str], object]


def library_problem(path: str, load: Load = ctypes.CDLL) -> str:
    """Why a library of Qt can't be loaded, and how to install what is missing; empty where it can.

    Args:
        path: the file of Qt. What it needs stays loaded, for the window needs it too.
        load: loads a file or the system's library of that name; raises OSError.
    """
    try:
        load(path)
    except OSError as error:
        missing = {package: names for package in PACKAGES if (names := _unloadable(package, load))}
        if not missing:
            return f"Qt can't load {str(error).partition(':')[0]}"
        names = [name for each in missing.values() for name in each]
        return f"{_listed(names)} missing; install: sudo apt install {' '.join(missing)}"
    return ""


def _unloadable(package: str, load: Load) -> list[str]:
    found = []
    for name in PACKAGES[package]:
        try:
            load(name)
        except OSError:
            found.append(name)
    return found


def _listed(names: list[str]) -> str:
    return f"{names[0]} is" if len(names) == 1 else f"{', '.join(names)} are"
