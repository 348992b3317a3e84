"""Which kernels OpenBLAS takes, where it would not find the best ones by itself.

OpenBLAS knows processors by family. One of a family that it does not know, it may take for an older one: an
AMD Zen 5 (family 26) was given kernels without AVX-512, which halved the speed of products.
``OPENBLAS_CORETYPE`` names the kernels, but only before the library is loaded.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "OPENBLAS_CORETYPE"

_CPUINFO = Path("/proc/cpuinfo")
_CORE = "SkylakeX"  # in every OpenBLAS that has kernels with AVX-512
_NEEDED = {"avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"}  # what they use
# The newest families in OpenBLAS's table (driver/others/dynamic.c, 0.3.31; Zen 5 is in none before 2026-09).
_KNOWN = {"GenuineIntel": 6, "AuthenticAMD": 25}


def choose_core(cpuinfo: Path = _CPUINFO) -> str:
    """Name the kernels in the environment of this process and its children, where that helps.

    Nothing is done where the user has set the variable, where NumPy is loaded, or where the processor has no
    AVX-512 or OpenBLAS knows its family. Returns the name that was set, or an empty text.
    """
    if os.environ.get(VARIABLE) or "numpy" in sys.modules or not _left_behind(cpuinfo):
        return ""
    os.environ[VARIABLE] = _CORE
    return _CORE


def _left_behind(cpuinfo: Path) -> bool:
    """Whether the processor has AVX-512 and is of a family that OpenBLAS does not know."""
    try:
        with cpuinfo.open(encoding="utf-8", errors="replace") as lines:
            facts: dict[str, str] = {}
            for line in lines:
                name, colon, value = line.partition(":")
                if not colon:
                    break  # the first processor only
                facts[name.strip()] = value.strip()
    except OSError:
        return False  # not Linux: OpenBLAS chooses
    newest = _KNOWN.get(facts.get("vendor_id", ""))
    family = facts.get("cpu family", "")
    if newest is None or not family.isdecimal() or int(family) <= newest:
        return False
    return set(facts.get("flags", "").split()) >= _NEEDED
