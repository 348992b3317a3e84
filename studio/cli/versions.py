"""What ``model-studio --version --verbose`` prints: releases, the processor, and whose kernels compute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version


def program() -> str:
    """Name and version, in one line."""
    try:
        return f"model-studio {version('model-studio')}"
    except PackageNotFoundError:
        return "model-studio (from its source tree, not installed)"


def details() -> list[str]:
    """One line for each subject. Loads NumPy and, where it is installed, llvmlite."""
    from engine.training.environment import environment

    found = environment()
    return [
        f"Python {found['python']}, {found['system']}, processors: {found['processors']}",
        f"NumPy {found['numpy']}, BLAS: {found['blas'] or 'unknown'}, threads: {found['threads']}",
        f"kernels: {_kernels()}",
        f"packages: {', '.join(_packages())}",
    ]


def _kernels() -> str:
    """Whose kernels compute on the CPU, and why."""
    from engine.core.errors import EngineError
    from engine.kernels.choice import NUMPY_RUNS, VARIABLE, kernels, wants_fast
    from engine.kernels.fast.compiler import load
    from engine.kernels.fast.target import target

    choice = kernels.get()
    try:
        wants_fast()
    except EngineError as error:
        return str(error)
    if choice == "numpy":
        return f"NumPy's, because of {VARIABLE}=numpy"
    if why := load():
        return f"NumPy's: {why}"
    first = "at once" if choice == "fast" else f"after {NUMPY_RUNS} steps or runs"
    try:
        cpu = target()
    except ValueError as error:
        return f"NumPy's: {error}"
    return f"{choice}: {first}, compiled for {cpu.cpu} with {cpu.lanes} numbers in a vector"


def _packages() -> Iterator[str]:
    """What the program requires, and what is installed of its extras, with versions."""
    try:
        wanted = requires("model-studio") or []
    except PackageNotFoundError:
        return
    extra = {re.match(r"[\w.-]+", each)[0]: "extra ==" in each for each in reversed(wanted)}  # type: ignore[index]
    for name in sorted(extra, key=str.lower):
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            if not extra[name]:
                yield f"{name} (not installed)"
