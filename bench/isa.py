"""The instruction set that contenders use: this CPU's own, or AVX2 on a CPU that has AVX-512 as well.

Most desktops have AVX2 alone. ``--isa avx2`` of a bench limits all workers alike by the variables that their
libraries read: NumPy, OpenBLAS, MKL, oneDNN, torch, and the engine's generator of code. ONNX Runtime's MLAS
reads none, so it is not limited.
"""

from __future__ import annotations

import importlib
import platform
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from engine.kernels.fast.target import VARIABLE

AVX2, AVX512 = "AVX2", "AVX-512"
# In any interpreter: NumPy's names of what this CPU has and NumPy has code for; it warns about all others.
NUMPYS_NAMES = """
try:
    from numpy._core import _multiarray_umath as found
except ImportError:
    from numpy.core import _multiarray_umath as found
print(*[name for name in found.__cpu_dispatch__ if found.__cpu_features__.get(name)])
"""
_CPUINFO = Path("/proc/cpuinfo")


def cpuinfo() -> dict[str, str]:
    """What the system says about the last of its cores; empty where it says nothing."""
    try:
        lines = _CPUINFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}


@cache
def own() -> str:
    """This CPU's widest vectors: "AVX-512", "AVX2", or empty for others."""
    # Private, and the only one on every system.
    found = importlib.import_module("numpy._core._multiarray_umath")
    flags = cpuinfo().get("flags", "").split()
    has = {name.lower() for name, there in found.__cpu_features__.items() if there} | {*flags}
    return AVX512 if "avx512f" in has else AVX2 if "avx2" in has else ""


def used(wanted: str) -> dict[str, object]:
    """For the conditions of a report: the instruction set, and whether a CPU that has more is limited to it.

    Raises SystemExit where this CPU does not have what is wanted.
    """
    if wanted and not own():
        raise SystemExit(f"bench: --isa {wanted}: this CPU ({platform.machine()}) has no AVX2; omit --isa")
    return {"isa": AVX2 if wanted else own(), "simulated": bool(wanted) and own() == AVX512}


def described(report: Mapping[str, object]) -> str:
    """The part of a line of conditions that ``used`` is about; empty where it says nothing."""
    isa = report.get("isa", "")
    if report.get("simulated"):
        return (
            f"{isa}, simulated on a CPU with {AVX512}: NumPy, OpenBLAS, torch and the engine's code are "
            "limited to it, ONNX Runtime is not (its MLAS has no setting for that)"
        )
    return f"{isa} is this CPU's own" if isa else ""


def environment(names: list[str]) -> dict[str, str]:
    """The variables that limit libraries to AVX2; ``names`` are what NumPy can omit, as it writes them."""
    wide = [name for name in names if name.startswith("AVX512") or name == "X86_V4"]
    core = "Zen" if cpuinfo().get("vendor_id") == "AuthenticAMD" else "Haswell"
    return {
        VARIABLE: "avx2",
        "OPENBLAS_CORETYPE": core,
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        **({"NPY_DISABLE_CPU_FEATURES": " ".join(wide)} if wide else {}),
    }


def variables(python: str, wanted: str) -> dict[str, str]:
    """What limits the libraries of an interpreter to the wanted instruction set; nothing where the CPU has
    no more than that."""
    return environment(numpys_names(python)) if wanted and own() == AVX512 else {}


@cache
def numpys_names(python: str) -> list[str]:
    """What the NumPy of an interpreter can omit on this CPU; none where it has no NumPy."""
    done = subprocess.run([python, "-c", NUMPYS_NAMES], capture_output=True, encoding="utf-8", check=False)
    return done.stdout.split()
