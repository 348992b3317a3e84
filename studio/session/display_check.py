"""Whether a window can be opened here, found out without Qt, which ends the process if it can't."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import socket
import sys
from pathlib import Path


def display_problem() -> str:
    """Why no window can be opened, in one line; empty where nothing speaks against it."""
    package = importlib.util.find_spec("PySide6")
    if package is None or not package.submodule_search_locations:
        return "PySide6 is not installed"
    if os.environ.get("QT_QPA_PLATFORM"):
        return ""  # the user has chosen a platform: offscreen, vnc, eglfs ...
    if not sys.platform.startswith("linux"):
        return ""
    wayland, x11 = os.environ.get("WAYLAND_DISPLAY", ""), os.environ.get("DISPLAY", "")
    if not wayland and not x11:
        return "neither DISPLAY nor WAYLAND_DISPLAY is set"
    if wayland and _reachable(_wayland_socket(wayland)):
        return ""
    if x11:
        return _x11_problem(x11, Path(next(iter(package.submodule_search_locations))))
    return f"no Wayland display answers at WAYLAND_DISPLAY={wayland}"


def _x11_problem(display: str, package: Path) -> str:
    host, _, rest = display.rpartition(":")
    number = rest.partition(".")[0]
    if not host or host == "unix":
        path = f"/tmp/.X11-unix/X{number}"
        if not (_reachable(path) or _reachable("\0" + path)):
            return f"no X server answers at DISPLAY={display}"
    plugin = package / "Qt" / "plugins" / "platforms" / "libqxcb.so"
    if plugin.is_file():
        try:
            ctypes.CDLL(str(plugin))
        except OSError as error:
            missing = str(error).partition(":")[0]
            return f"Qt's platform plugin for X11 can't load: {missing} is missing"
    return ""


def _wayland_socket(name: str) -> str:
    return name if name.startswith("/") else os.path.join(os.environ.get("XDG_RUNTIME_DIR", ""), name)


def _reachable(path: str) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1.0)
            client.connect(path)
    except OSError:
        return False
    return True
