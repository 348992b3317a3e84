"""Compiles the CUDA sources that the tests ran for real GPUs: ``python compile_for_gpus.py FOLDER``.

FOLDER is where a run of the tests stored its objects for the host (``MODEL_STUDIO_SHIM``): each source
with the macros that the engine used, generated ones too. NVRTC compiles each for the oldest and the newest
GPUs that the engine supports, which needs neither a GPU nor a driver: ``pip install cupy-cuda12x
nvidia-cuda-nvrtc-cu12`` (12, since 13 has no compute_70). Warnings fail, and so does a kernel of
``engine/kernels/cupy/cuda`` that no test ran.
"""

from __future__ import annotations

import multiprocessing
import re
import sys
from pathlib import Path

CUDA = Path(__file__).resolve().parents[4] / "engine" / "kernels" / "cupy" / "cuda"
# sm_: down to the machine's code, which shows excessive shared memory; compute_: down to PTX, in a third of
# the time. No source depends on the architecture (``__CUDA_ARCH__``): those in between would add nothing.
TARGETS = ("sm_70", "compute_90")
# Options of engine/kernels/cupy/source.py, and those that CuPy adds to all.
OPTIONS = ("-std=c++17", "--fmad=true", "-ftz=true", "--device-as-default-execution-space")
EXPECTED = re.compile(r"nvrtc: warning: Architectures prior to .* are deprecated.*")
BOUNDS = re.compile(r"__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)")
INCLUDED = re.compile(r'^#include "\w+\.cuh"$', re.MULTILINE)
KERNEL = re.compile(r'^extern\s+"C"\s+__global__\s+void\s+(\w+)\s*\(', re.MULTILINE)


def complaints(source: str, target: str) -> str:
    """NVRTC's errors for a source; empty if there are none."""
    from cupy.cuda import nvrtc

    program = nvrtc.createProgram(source, "source.cu", (), ())
    failed = ""
    try:
        nvrtc.compileProgram(program, (f"-arch={target}", *OPTIONS))
    except nvrtc.NVRTCError as error:
        failed = f"{error}\n"
    log = EXPECTED.sub("", nvrtc.getProgramLog(program).strip("\0")).strip()
    nvrtc.destroyProgram(program)
    return failed + log


def _checked(path: Path) -> str:
    source = path.read_text(encoding="utf-8")
    for target in TARGETS:
        if errors := complaints(source, target):
            macros = "".join(line for line in source.splitlines(True)[:12] if line.startswith("#define"))
            return f"{path.name} for {target}:\n{macros}{errors}"
    return ""


def _kernels(source: str) -> list[str]:
    return KERNEL.findall(BOUNDS.sub("", source))


def not_run(folder: Path) -> list[str]:
    """Kernels of the engine that no test launched."""
    ran: dict[str, list[str]] = {}
    for mark in folder.glob("*.ran"):  # KEY.NAME.ran, next to KEY.cu
        key, name, _ = mark.name.split(".")
        ran.setdefault(name, []).append((folder / f"{key}.cu").read_text(encoding="utf-8"))
    lost = []
    for path in sorted(CUDA.glob("*.cu*")):
        source = path.read_text(encoding="utf-8")
        parts = [part.strip() for part in INCLUDED.split(source)]  # included text is between them
        lost += [
            f"{path.name}: {name}"
            for name in _kernels(source)
            if not any(all(part in whole for part in parts) for whole in ran.get(name, []))
        ]
    return lost


def main(folder: Path) -> int:
    kernel = 'extern "C" __global__ void f(float *x) {{ {} }}'
    assert not complaints(kernel.format("x[0] = 1.0f;"), "sm_70")
    for wrong in (
        "int unused;",
        "no such thing;",
        "__shared__ float s[13000]; s[threadIdx.x] = x[1]; x[0] = s[9];",
    ):
        assert complaints(kernel.format(wrong), "sm_70"), f"NVRTC has nothing against {wrong}"
    paths = sorted(folder.glob("*.cu"))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = [errors for errors in pool.imap_unordered(_checked, paths, chunksize=4) if errors]
    lost = not_run(folder)
    dependent = [path for path in paths if "__CUDA_ARCH__" in path.read_text(encoding="utf-8")]
    assert not dependent, f"compile for the generations in between too: {dependent}"
    print(*found, sep="\n\n")
    print(*(f"no test runs this kernel: {each}" for each in lost), sep="\n")
    print(
        f"{len(paths)} sources, each for {', '.join(TARGETS)}: {len(found)} refused; "
        f"{len(lost)} kernels not run"
    )
    return 1 if found or lost or not paths else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
