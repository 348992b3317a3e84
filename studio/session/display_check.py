"""Whether a window can be opened here, found out without Qt, which ends the process if it can't."""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
from pathlib import Path

from resources.system_libraries import library_problem


def display_problem() -> str:
    """Why no window can be opened, in one line; empty where nothing speaks against it."""
    package = importlib.util.find_spec("PySide6")
    if package is None or not package.submodule_search_locations:
        return "PySide6 is not installed"
    if not sys.platform.startswith("linux"):
        return ""
    folder = Path(next(iter(package.submodule_search_locations)))
    # The user may have chosen platforms: offscreen, vnc, "wayland;xcb" ...
    chosen = os.environ.get("QT_QPA_PLATFORM", "")
    platforms = [each.partition(":")[0] for each in chosen.split(";")] if chosen else _offered()
    problem = "neither DISPLAY nor WAYLAND_DISPLAY is set"
    for platform in platforms:  # Qt takes the first that works
        problem = _no_display(platform) or _no_library(platform, folder)
        if not problem:
            break
    return problem


def _offered() -> list[str]:
    """The platforms whose display the environment names, in the order of Qt."""
    names = {"wayland": "WAYLAND_DISPLAY", "xcb": "DISPLAY"}
    return [platform for platform, variable in names.items() if os.environ.get(variable)]


def _no_display(platform: str) -> str:
    """Why the display of a platform is not available; empty where it is, and for platforms without one."""
    if platform.startswith("wayland"):
        name = os.environ.get("WAYLAND_DISPLAY", "") or "wayland-0"
        problem = f"no Wayland display answers at WAYLAND_DISPLAY={name}"
        return "" if _reachable(_wayland_socket(name)) else problem
    if platform != "xcb":
        return ""
    display = os.environ.get("DISPLAY", "")
    if not display:
        return "DISPLAY is not set"
    host, _, rest = display.rpartition(":")
    if not host or host == "unix":
        path = f"/tmp/.X11-unix/X{rest.partition('.')[0]}"
        if not (_reachable(path) or _reachable("\0" + path)):
            return f"no X server answers at DISPLAY={display}"
    return ""


def _no_library(platform: str, package: Path) -> str:
    """Why Qt can't load what it needs there, and what to install."""
    plugins = package / "Qt" / "plugins" / "platforms"
    wayland = platform.startswith("wayland")
    plugin = sorted(plugins.glob("libqwayland*.so")) if wayland else [plugins / f"libq{platform}.so"]
    files = [package / "Qt" / "lib" / "libQt6Widgets.so.6", *plugin]
    # Those of an installation elsewhere, such as the system's, come with what they need.
    problems = (library_problem(str(file)) for file in files if file.is_file())
    return next((problem for problem in problems if problem), "")


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
