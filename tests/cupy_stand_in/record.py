"""Writes ``names.json``: the API of a real CuPy, with its arguments.

``python tests/cupy_stand_in/record.py`` in an environment that has CuPy 14 (no GPU and no driver needed: CuPy
can be imported without). Run it again for a new release, and read the difference before you commit it.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

MODULES = (
    "",
    "linalg",
    "fft",
    "random",
    "lib.stride_tricks",
    "cuda",
    "cuda.runtime",
    "cuda.nvrtc",
    "cuda.memory",
    "cuda.profiler",
    "cuda.nvtx",
)
CLASSES = ("ndarray", "ufunc", "ElementwiseKernel", "ReductionKernel", "RawKernel", "RawModule")
CUDA_CLASSES = (
    "Device",
    "Stream",
    "ExternalStream",
    "Event",
    "Graph",
    "MemoryPool",
    "PinnedMemoryPool",
    "MemoryPointer",
)


def arguments(function: Any) -> list[str] | None:
    """Names of the arguments, ``*`` and ``**`` before those that take many; None where they are unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return _documented(function)
    mark = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [mark.get(p.kind, "") + p.name for p in parameters if p.name != "self"]


def _documented(function: Any) -> list[str] | None:
    """From the first line of the documentation, where Cython writes the arguments."""
    first = (function.__doc__ or "").split("\n")[0]
    found = re.fullmatch(r"[\w.]+\((.*)\)(?: ->.*)?", first)
    if not found:
        return None
    names = []
    for part in re.split(r",\s*(?![^(\[]*[)\]])", found[1]):
        name = part.split("=")[0].split(":")[0].strip().split(" ")[-1]
        if name and name not in ("self", "/", "\\*", "*"):
            names.append(name)
    return names


def record(cupy: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"version": cupy.__version__, "modules": {}, "classes": {}, "ufuncs": {}}
    for path in MODULES:
        module = cupy
        for name in filter(None, path.split(".")):
            module = getattr(module, name)
        functions, others = {}, []
        for name in sorted(dir(module)):
            if name.startswith("_"):
                continue
            value = getattr(module, name)
            if isinstance(value, cupy.ufunc):
                found["ufuncs"][name] = {"nin": value.nin, "nout": value.nout, "types": value.types}
            elif callable(value) and not inspect.isclass(value):
                functions[name] = arguments(value)
            else:
                others.append(name)
        found["modules"][path] = {"functions": functions, "others": others}
    classes = [(name, getattr(cupy, name)) for name in CLASSES]
    classes += [
        ("cuda." + name, getattr(cupy.cuda, name)) for name in CUDA_CLASSES if hasattr(cupy.cuda, name)
    ]
    for name, kind in classes:
        members = [m for m in sorted(dir(kind)) if not m.startswith("_") or m.startswith("__")]
        found["classes"][name] = {
            m: arguments(getattr(kind, m)) if callable(getattr(kind, m)) else "attribute" for m in members
        }
    return found


if __name__ == "__main__":
    import cupy

    path = Path(__file__).with_name("names.json")
    path.write_text(json.dumps(record(cupy), indent=1, sort_keys=True) + "\n")
    print(f"{path.name}: CuPy {cupy.__version__}")
