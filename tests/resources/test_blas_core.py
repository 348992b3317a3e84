"""OpenBLAS is given its kernels where it would choose slower ones, before NumPy loads it and only then."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from resources.blas_core import _NEEDED, VARIABLE, _left_behind

ZEN5 = ("AuthenticAMD", 26, _NEEDED)


def write(folder: Path, vendor: str, family: object, flags: set[str]) -> Path:
    path = folder / "cpuinfo"
    one = (
        f"vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel name\t: X\nflags\t\t: fpu {' '.join(flags)}\n"
    )
    path.write_text(f"processor\t: 0\n{one}\nprocessor\t: 1\n{one}")
    return path


@pytest.mark.parametrize(
    ("vendor", "family", "flags", "behind"),
    [
        (*ZEN5, True),
        ("AuthenticAMD", 25, _NEEDED, False),  # known: OpenBLAS chooses well
        ("GenuineIntel", 6, _NEEDED, False),
        ("GenuineIntel", 19, _NEEDED, True),
        ("AuthenticAMD", 26, _NEEDED - {"avx512vl"}, False),
        ("SomeoneElse", 99, _NEEDED, False),
        ("AuthenticAMD", "?", _NEEDED, False),
    ],
)
def test_which_processors(tmp_path: Path, vendor: str, family: object, flags: set[str], behind: bool) -> None:
    assert _left_behind(write(tmp_path, vendor, family, flags)) is behind


def test_no_such_file(tmp_path: Path) -> None:
    assert not _left_behind(tmp_path / "cpuinfo")


def loaded(first: str, cpuinfo: Path, **environment: str) -> list[str]:
    """What ``choose_core`` gives in a fresh process after ``first``, and the kernels of OpenBLAS there."""
    code = (
        f"{first}\nimport pathlib\nfrom resources.blas_core import choose_core\n"
        f"print(choose_core(pathlib.Path({str(cpuinfo)!r})) or '-')\n"
        "import numpy\nfrom threadpoolctl import threadpool_info\n"
        "print(*{each.get('architecture') for each in threadpool_info() if each['user_api'] == 'blas'})\n"
    )
    clean = {name: value for name, value in os.environ.items() if name != VARIABLE}
    made = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean | environment
    )
    return made.stdout.split()


def flags_here() -> set[str]:
    try:
        return set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return set()


@pytest.mark.skipif(not flags_here() >= _NEEDED, reason="the kernels need AVX-512")
def test_the_kernels_of_a_fresh_process(tmp_path: Path) -> None:
    path = write(tmp_path, *ZEN5)
    chosen, core = loaded("", path)
    assert (chosen, core) == ("SkylakeX", "SkylakeX")
    assert loaded("", path, OPENBLAS_CORETYPE="Haswell") == ["-", "Haswell"]  # the user's word counts
    by_itself = loaded("", tmp_path / "none")
    assert loaded("import numpy", path) == by_itself  # too late: nothing is set
