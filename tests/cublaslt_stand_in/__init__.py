"""A shared library that replaces NVIDIA's cuBLASLt in tests: ``build`` compiles it where g++ is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def build(folder: Path) -> Path | None:
    """The library, compiled into ``folder``; None where there is no g++."""
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    made = folder / "libcublasLt.so"
    command = [compiler, "-std=c++17", "-O0", "-shared", "-fPIC", "-Wall", "-Werror"]
    subprocess.run([*command, "-o", made, Path(__file__).parent / "cublaslt.cpp"], check=True)
    return made
