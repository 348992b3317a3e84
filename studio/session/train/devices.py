"""Which devices this machine has, for the window: asked in a child process, since CuPy takes its time.

A GPU's driver may also hang or crash, which ends the child and not the window.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from resources import installing

SECONDS = 30.0
"""After so long a child is ended: the list says so."""
_MOST = 64  # devices that an answer may name
_START = "from studio.session.train.devices import tell; tell()"


@dataclass(frozen=True)
class Gpu:
    """A GPU by its number; memory in bytes."""

    index: int
    name: str
    free: int
    total: int


@dataclass(frozen=True)
class Devices:
    """The GPUs; ``why`` says why there are none, ``cupy`` whether CuPy is installed."""

    gpus: tuple[Gpu, ...] = ()
    why: str = ""
    cupy: bool = True


NO_CUPY = Devices(why=f"CuPy is not installed: {installing.extra('gpu')}", cupy=False)


def has_cupy() -> bool:
    """Whether there is anything to ask; without CuPy there are no GPUs to use."""
    return find_spec("cupy") is not None


def ask() -> Devices:
    """The devices that can be used now. It takes seconds: not for Qt's thread."""
    if not has_cupy():
        return NO_CUPY
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _START],
            capture_output=True,
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return Devices(why=f"the driver gave no answer in {SECONDS:.0f} s; check it with nvidia-smi")
    except OSError as error:
        return Devices(why=f"the driver could not be asked: {error.strerror}")
    return answered(done.stdout, done.returncode)


def answered(text: str, status: int) -> Devices:
    """What a child said that ended with ``status``."""
    lines = text.strip().splitlines()
    if status or not lines:
        return Devices(why=f"asking the driver ended with status {status}; check it with nvidia-smi")
    answer = json.loads(lines[-1])
    gpus = tuple(Gpu(int(i), str(name), int(free), int(total)) for i, name, free, total in answer["gpus"])
    return Devices(gpus[:_MOST], str(answer["why"]))


def tell() -> None:
    """Print what :func:`answered` reads; runs in the child."""
    print(json.dumps(_asked()))


def _asked() -> dict[str, Any]:
    from engine.core.errors import DeviceError
    from engine.core.place import CUDAPlace, backend

    try:
        found = backend(CUDAPlace(0))
        names = [found.properties(index)["name"].decode(errors="replace") for index in range(found.count())]
        gpus = [(index, name, *found.memory.free_and_total(index)) for index, name in enumerate(names)]
    except DeviceError as error:
        return {"gpus": [], "why": f"{error.why}; {error.remedy}".strip("; ")}
    return {"gpus": gpus, "why": ""}
