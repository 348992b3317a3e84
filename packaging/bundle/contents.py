"""What of Python, Qt and the packages goes into the bundle, and what stays out."""

from __future__ import annotations

import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from importlib.metadata import Distribution, distributions
from pathlib import Path

PROGRAM = "model-studio"
# The second package, with what it alone needs.
FAST = "llvmlite"

# Modules of the standard library that are left out: none is of use without a terminal, Tk or a compiler, and
# readline, gdbm and Berkeley DB have licences that would hold for the whole bundle.
NO_LIBRARY = (
    "test", "idlelib", "lib2to3", "tkinter", "turtledemo", "turtle.py", "ensurepip", "venv", "pydoc_data",
    "config-*", "site-packages", "dist-packages", "*/test", "*/tests", "LICENSE.txt", "lib-dynload",
)  # fmt: skip
NO_EXTENSIONS = (
    "_tkinter.*", "readline.*", "_gdbm.*", "_dbm.*", "_curses*", "nis.*", "ossaudiodev.*", "_crypt.*",
    "spwd.*", "_test*", "_xx*", "xx*", "_ctypes_test.*",
)  # fmt: skip
# Files of packages, by path below site-packages, that the program never opens.
NO_FILES = (
    "*.pyi", "*/py.typed", "*.pyx", "*.pxd", "*.a", "*.h", "*.c", "*/tests/*", "*.dist-info/RECORD",
    "*.dist-info/INSTALLER", "*.dist-info/REQUESTED", "*.dist-info/direct_url.json", "*.pyc", "../*",
    "numpy/f2py/*", "numpy/_pyinstaller/*", "numpy/conftest.py",
    "pyqtgraph/examples/*", "pyqtgraph/opengl/*", "pyqtgraph/jupyter/*", "pyqtgraph/canvas/*",
    "PIL/_avif.*", "pillow.libs/libavif-*", "PIL/AvifImagePlugin.py", "PIL/_imagingtk.*", "PIL/ImageTk.py",
    "PIL/_tkinter_finder.py",
    "pydantic/v1/*", "pydantic/mypy.py",
)  # fmt: skip
# Of pygments' 250 lexers those that a traceback in a terminal may need.
LEXERS = ("__init__.py", "_mapping.py", "python.py", "special.py")
# Of PySide6: modules that the window imports, those that pyqtgraph does, and plugins that Qt can load.
MODULES = ("QtCore", "QtGui", "QtWidgets", "QtSvg")
MODULES_OF_CHARTS = ("QtOpenGL", "QtOpenGLWidgets")
PLUGINS = (
    "platforms/libqxcb.so", "platforms/libqwayland.so", "platforms/libqoffscreen.so",
    "platforms/libqminimal.so",
    "platforminputcontexts/libcompose*", "platforminputcontexts/libibus*", "platformthemes/*",
    "iconengines/*", "imageformats/libqsvg.so", "imageformats/libqjpeg.so", "imageformats/libqgif.so",
    "imageformats/libqico.so",
    "wayland-decoration-client/*", "wayland-graphics-integration-client/*", "wayland-shell-integration/*",
    "xcbglintegrations/*",
)  # fmt: skip
TRANSLATIONS = ("qtbase_en.qm", "qtbase_zh_CN.qm")
# What only Qt's theme for GTK loads, which Qt passes over where GTK is not installed.
OPTIONAL = "libqgtk3.so"


def library_files(stdlib: Path) -> Iterator[Path]:
    """The files of the standard library, as paths below ``stdlib``."""
    for path in sorted(stdlib.rglob("*")):
        name = path.relative_to(stdlib)
        parts = [*name.parents, name]
        if path.is_file() and "__pycache__" not in name.parts and path.suffix != ".pyc":
            if not any(fnmatchcase(part.as_posix(), no) for part in parts for no in NO_LIBRARY):
                yield name


def extension_files(stdlib: Path) -> list[Path]:
    """The compiled modules of the standard library."""
    found = sorted((stdlib / "lib-dynload").glob("*.so"))
    return [path for path in found if not any(fnmatchcase(path.name, no) for no in NO_EXTENSIONS)]


def closure(site: Path, name: str, without: Iterable[str] = ()) -> dict[str, Distribution]:
    """The packages that ``name`` needs, with itself, by their names in lower case with hyphens."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    known = {canonicalize_name(each.metadata["Name"]): each for each in distributions(path=[str(site)])}
    found: dict[str, Distribution] = {}
    waiting = [canonicalize_name(name)]
    skipped = {canonicalize_name(each) for each in without}
    while waiting:
        each = waiting.pop()
        if each in found or each in skipped:
            continue
        if each not in known:
            raise SystemExit(f"{site}: {each} is not installed, which the program needs")
        found[each] = known[each]
        for text in known[each].requires or []:
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                waiting.append(canonicalize_name(needed.name))
    return dict(sorted(found.items()))


def package_files(package: Distribution, keep_qt: frozenset[str]) -> list[str]:
    """The files of a package that the bundle has, as paths below site-packages."""
    names = sorted({each.as_posix() for each in package.files or []})
    return [name for name in names if wanted(name, keep_qt)]


def wanted(name: str, keep_qt: frozenset[str] = frozenset()) -> bool:
    """Whether the bundle has the file of a package. ``keep_qt`` has the libraries of Qt that are needed."""
    if any(fnmatchcase(name, no) for no in NO_FILES):
        return False
    top, _, rest = name.partition("/")
    if top == "pygments" and rest.startswith("lexers/"):
        return rest.removeprefix("lexers/") in LEXERS
    if top not in ("PySide6", "shiboken6"):
        return True
    if name in keep_qt:
        return True
    if rest.startswith("Qt/translations/"):
        return rest.removeprefix("Qt/translations/") in TRANSLATIONS
    return rest.endswith(".py") and rest.count("/") == 0


def qt_files(site: Path) -> frozenset[str]:
    """The libraries of Qt and its bindings that the modules and plugins need, with these themselves."""
    qt, shiboken = site / "PySide6", site / "shiboken6"
    start = [path for module in (*MODULES, *MODULES_OF_CHARTS) for path in qt.glob(f"{module}.*so")]
    start += [*shiboken.glob("*.so*")]
    for pattern in PLUGINS:
        found = sorted((qt / "Qt/plugins").glob(pattern))
        if not found:
            raise SystemExit(f"PySide6 has no plugin {pattern}; packaging/bundle/contents.py names it")
        start += found
    near = {path.name: path for folder in (qt, shiboken, qt / "Qt/lib") for path in folder.glob("*.so*")}
    seen: set[Path] = set()
    while start:
        path = start.pop()
        if path not in seen:
            seen.add(path)
            start += [near[name] for name in needed(path) if name in near]
    return frozenset(path.relative_to(site).as_posix() for path in seen)


def needed(path: Path) -> list[str]:
    """The libraries that a library names as needed."""
    shown = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", shown)


def is_library(path: Path) -> bool:
    """Whether the file is a program or a library of Linux."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def libraries(folder: Path) -> list[Path]:
    """All programs and libraries below ``folder``."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and is_library(path)
    ]


def system_libraries(folder: Path) -> dict[str, list[str]]:
    """What the libraries below ``folder`` need that is not in it, each with the files that need it."""
    found = libraries(folder)
    inside = {path.name for path in found}
    outside: dict[str, list[str]] = {}
    for path in found:
        if path.name != OPTIONAL:
            for name in needed(path):
                if name not in inside:
                    outside.setdefault(name, []).append(path.name)
    return outside


def glibc(folder: Path) -> str:
    """The newest release of glibc that anything below ``folder`` asks for, such as ``2.34``."""
    newest = (2, 17)
    for path in libraries(folder):
        shown = subprocess.run(["readelf", "-V", path], capture_output=True, text=True, check=True).stdout
        for one, other in re.findall(r"GLIBC_(\d+)\.(\d+)", shown):
            newest = max(newest, (int(one), int(other)))
    return ".".join(map(str, newest))


def copy_library(target: Path, extensions: Path, python: Path) -> None:
    """Copy the standard library to ``target``, without the folders of the machine that built it, and its
    compiled modules to ``extensions``, where PyInstaller's loader has put those that it needs."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    for name in library_files(stdlib):
        _copy(stdlib / name, target / name)
    kept = extension_files(stdlib)
    for path in kept:
        _copy(path, extensions / path.name)
    for path in target.glob("_sysconfigdata*.py"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(str(python), "/usr"), encoding="utf-8")


def copy_packages(site: Path, target: Path, packages: Iterable[Distribution]) -> None:
    """Copy the files of the packages from ``site`` to ``target``."""
    keep = qt_files(site) if (site / "PySide6").is_dir() else frozenset()
    for package in packages:
        for name in package_files(package, keep):
            _copy(site / name, target / name)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o644)


def compile_sources(folder: Path, installed: Path) -> None:
    """Store the compiled form of each module next to it: other users can read the folder but not write to it.

    It counts as valid whatever the time of the source is, and names the file in ``installed``.
    """
    for path in sorted(folder.rglob("*.py")):
        try:
            py_compile.compile(
                str(path),
                dfile=str(installed / path.relative_to(folder)),
                doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
        except py_compile.PyCompileError:
            # A template, or a test for another Python; this one would refuse it when it is imported.
            print(f"not compiled: {path.relative_to(folder)}", file=sys.stderr)


def strip(folder: Path) -> None:
    """Remove symbols that only a debugger reads from all libraries of a folder."""
    for path in libraries(folder):
        strip_file(path)


def strip_file(path: Path) -> None:
    """Remove symbols that only a debugger reads."""
    subprocess.run(["strip", "--strip-unneeded", path], check=True)


def size(path: Path) -> int:
    """The bytes of a file, or of all files in a folder."""
    if path.is_file():
        return path.stat().st_size
    return sum(each.lstat().st_size for each in path.rglob("*") if not each.is_dir() or each.is_symlink())
