"""Ranks and spawned processes import Model Studio as it is installed, whatever the current folder contains.

What must not run leaves a trace.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = 120.0
ROOT = Path(__file__).resolve().parents[2]
NAMES = ("engine", "resources", "studio", "widgets", "numpy", "mpi4py", "json")
SCRIPT = """
import os, sys, pathlib
import paddle.distributed as dist
import {imported}

def work():
    dist.init_parallel_env()
    # In one piece: the ranks share a pipe.
    os.write(1, f"rank {{dist.get_rank()}} {{pathlib.Path(dist.__file__).parts[-3]}} {{mine.X}}\\n".encode())

import mine

if __name__ == "__main__":
    {start}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which someone left modules named like ours, and like those that a rank needs first."""
    made = tmp_path / "work"
    made.mkdir()
    (made / "mine.py").write_text("X = 'mine'\n")
    for name in NAMES:
        (made / f"{name}.py").write_text(
            f"import pathlib\npathlib.Path({str(tmp_path)!r}, 'trace').open('a').write({name!r} + ' ')\n"
        )
    return made


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # As the command of an installation: its own folder is first on the path, not the current one.
    start = f"import sys; sys.path[0] = {str(ROOT)!r}; from studio.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", start, *words],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": ""},
    )


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("in_the_folder", [True, False])
def test_launch(folder: Path, tmp_path: Path, count: int, in_the_folder: bool) -> None:
    if count > 1:
        pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    # Next to the script, modules that are not ours are its own: only those of our names are looked at there.
    for name in NAMES[4:] if in_the_folder else ():
        (folder / f"{name}.py").unlink()
    script = folder / "train.py" if in_the_folder else tmp_path / "train.py"
    (tmp_path / "mine.py").write_text("X = 'mine'\n")
    script.write_text(SCRIPT.format(imported="engine", start="work()"))
    done = run(folder, "launch", "--nproc_per_node", str(count), str(script))
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "trace").exists(), (tmp_path / "trace").read_text()
    for rank in range(count):
        assert f"rank {rank} engine mine" in done.stdout
    said = f"run: {folder / 'engine.py'}: not imported: the name 'engine' is taken by Model Studio's package"
    assert done.stderr.count(said) == in_the_folder


def test_spawn(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    for name in NAMES[4:]:
        (folder / f"{name}.py").unlink()
    (folder / "train.py").write_text(SCRIPT.format(imported="sys", start="dist.spawn(work, nprocs=2)"))
    done = run(folder, "run", "train.py")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "trace").exists(), (tmp_path / "trace").read_text()
    for rank in range(2):
        assert f"rank {rank} engine mine" in done.stdout


SPAWNING = """
import multiprocessing, sys
import paddle

def work():
    import mine
    print("child", paddle.__file__, mine.X)

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    child = multiprocessing.Process(target=work)
    child.start()
    child.join()
    sys.exit(child.exitcode)
"""


def test_processes_that_a_script_spawns(folder: Path, tmp_path: Path) -> None:
    for name in NAMES[4:]:
        (folder / f"{name}.py").unlink()
    (folder / "train.py").write_text(SPAWNING)
    done = run(folder, "run", "train.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"child {ROOT / 'engine' / '__init__.py'} mine\n"
    assert not (tmp_path / "trace").exists()
