"""CUDA sources compiled for the host: ``shim/`` defines what a C++ compiler lacks, objects are cached.

Objects are in a folder that all test workers share, each under the hash of everything it is made of, so that
a source is compiled once. ``MODEL_STUDIO_SHIM`` names another folder. The source is stored next to its
object; the check with NVRTC compiles it for real GPUs.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

SHIM = Path(__file__).with_name("shim")
# The most objects that are cached from one run to the next.
MOST = 3000
_FLAGS = (
    "-std=gnu++17",
    "-O1",
    "-w",
    "-shared",
    "-fPIC",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-asynchronous-unwind-tables",
    "-fno-math-errno",
)
_SANITIZED = ("-fsanitize=address", "-fsanitize-recover=address", "-fsanitize-sections=shim_shared", "-g1")
_BOUNDS = r"(?:__launch_bounds__\s*\(((?:[^()]|\([^()]*\))*)\)\s*)?"
_KERNEL = re.compile(rf'^\s*extern\s+"C"\s+__global__\s+{_BOUNDS}void\s+{_BOUNDS}(\w+)\s*\(', re.MULTILINE)
_DYNAMIC = re.compile(r"extern\s+__shared__\s+(?:__align__\(\s*\d+\s*\)\s+)?([\w: ]+?)\s+(\w+)\s*\[\s*\]\s*;")


class Refused(Exception):
    """The compiler refuses the source; the message is its own."""


def missing() -> str | None:
    """Why sources can't be compiled here; None where they can."""
    if sys.platform == "win32":
        return "kernels run on the host where fork and mmap are"
    return None if _command() else "no C++ compiler (g++ or clang++): the kernels are not run"


def sanitizer() -> str | None:
    """The library of the address sanitizer that a process has to preload; None where there is none."""
    command = _command()
    if missing() or sys.platform != "linux" or command is None:
        return None
    command_line = [command, "-print-file-name=libasan.so"]
    found = subprocess.run(
        command_line, capture_output=True, text=True, check=True, timeout=60
    ).stdout.strip()
    return found if os.path.isabs(found) else None


@cache
def sanitized() -> bool:
    """Whether this process runs under the address sanitizer, which the test of it preloads.

    ``MODEL_STUDIO_SHIM_ASAN`` is ``few`` for one set of macros of each source, ``all`` for every set.
    """
    return bool(os.environ.get("MODEL_STUDIO_SHIM_ASAN"))


_watched: dict[str, str] = {}


def _watch(code: str) -> bool:
    """Whether the sanitizer is to watch this source."""
    body = re.sub(r"^#define .*\n", "", code, flags=re.MULTILINE)
    first = _watched.setdefault(body, code)
    return sanitized() and (first == code or os.environ["MODEL_STUDIO_SHIM_ASAN"] == "all")


@cache
def _command() -> str | None:
    return os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")


@cache
def folder() -> Path:
    """The folder of the objects, which other users can't read."""
    import getpass

    given = os.environ.get("MODEL_STUDIO_SHIM")
    path = Path(given) if given else Path(tempfile.gettempdir()) / f"model-studio-shim-{getpass.getuser()}"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.stat()
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise PermissionError(f"{path}: others may write there; remove it, or set MODEL_STUDIO_SHIM")
    return path


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One process at a time builds this object."""
    import fcntl

    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def translated(code: str) -> str:
    """A CUDA source as C++: the shim, the source with its dynamic memory named, a start for each kernel."""
    body = _DYNAMIC.sub(r"\1 *const \2 = (\1 *)shim_dynamic;", code)
    tables = []
    if "struct half_t" in code:
        tables.append("SHIM_KIND(half_t, 'h') SHIM_KIND(bfloat_t, 'w')")
    for before, after, name in _KERNEL.findall(code):
        tables.append(f"SHIM_KERNEL({name}, SHIM_FIRST({before or after or '1024'}))")
    return f'#include "device.h"\n{body}\n' + "\n".join(tables) + "\n"


@cache
def _common() -> bytes:
    """The inputs of every object besides its source; runtime.cpp is a source itself."""
    version = subprocess.run(
        [str(_command()), "--version"], capture_output=True, check=True, timeout=60
    ).stdout
    return version + (SHIM / "device.h").read_bytes()


def built(code: str, cuda_source: str = "", watched: bool = False) -> Path:
    """The object of a C++ source; ``cuda_source`` is written next to it. Raises Refused."""
    flags = _FLAGS + (_SANITIZED if watched else ())
    key = hashlib.sha256(b"\0".join([_common(), " ".join(flags).encode(), code.encode()])).hexdigest()[:40]
    path = folder() / f"{key}.so"
    if path.exists():
        os.utime(path)
        return path
    with _alone(path.with_suffix(".lock")):
        if path.exists():
            return path
        with tempfile.TemporaryDirectory(dir=folder(), prefix="making-") as making:
            source, made = Path(making, "source.cpp"), Path(making, "made.so")
            source.write_text(code, encoding="utf-8")
            command = [str(_command()), *flags, f"-I{SHIM}", "-o", str(made), str(source), "-lm"]
            if sys.platform == "darwin":
                command.append("-Wl,-undefined,dynamic_lookup")
            done = subprocess.run(command, capture_output=True, text=True, timeout=200)
            if done.returncode:
                raise Refused(done.stderr)
            if cuda_source:
                Path(making, "source.cu").write_text(cuda_source, encoding="utf-8")
                os.replace(Path(making, "source.cu"), path.with_suffix(".cu"))
            os.replace(made, path)
    path.with_suffix(".lock").unlink(missing_ok=True)
    _forget()
    return path


def _forget() -> None:
    """Remove the objects that were not used for longest, where there are too many."""
    found = list(folder().glob("*.so"))
    if len(found) <= MOST:
        return
    for path in sorted(found, key=lambda path: path.stat().st_mtime)[: len(found) - MOST * 3 // 4]:
        for each in folder().glob(f"{path.stem}.*"):
            each.unlink(missing_ok=True)


@cache
def runtime() -> ctypes.PyDLL:
    """The library that runs blocks and threads. It holds Python's lock: launches come one at a time."""
    code = (SHIM / "runtime.cpp").read_text(encoding="utf-8")
    library = ctypes.PyDLL(str(built(code, watched=sanitized())), mode=ctypes.RTLD_GLOBAL)
    library.shim_failure.restype = ctypes.c_char_p
    return library


@cache
def launched(code: str, name: str) -> None:
    """Write a mark next to the object: a test ran this kernel of it."""
    path = built(translated(code), code, _watch(code))
    path.with_name(f"{path.stem}.{name}.ran").touch()


@cache
def loaded(code: str) -> ctypes.PyDLL:
    """A CUDA source as a library whose kernels can be launched. Raises Refused."""
    runtime()
    return ctypes.PyDLL(str(built(translated(code), code, _watch(code))))
