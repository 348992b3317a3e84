"""Jobs of two and three processes: every collective against NumPy, and how a job ends."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.engine.distributed.jobs import job

pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)


@pytest.mark.parametrize(
    ("script", "count"), [("ranks.py", 2), ("ranks.py", 3), ("programs.py", 2), ("static_ranks.py", 2)]
)
def test_checks_of_each_rank(script: str, count: int) -> None:
    done = job(count, Path(__file__).with_name(script))
    assert done.returncode == 0, done.stdout
    for rank in range(count):
        assert f"rank {rank}: leaving\n" in done.stdout


FAILING = """
import sys
import engine.distributed as dist
dist.init_parallel_env()
if dist.get_rank() == 1:
    {failure}
print("waiting", flush=True)
dist.barrier()
print("never")
"""


@pytest.mark.parametrize(
    ("failure", "status", "said"),
    [
        ("raise ValueError('no such luck')", 1, "ValueError: no such luck"),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('given up')", 1, "given up"),
    ],
)
def test_a_failure_of_one_rank_ends_all(tmp_path: Path, failure: str, status: int, said: str) -> None:
    script = tmp_path / "failing.py"
    script.write_text(FAILING.format(failure=failure), encoding="utf-8")
    done = job(2, "--log-dir", tmp_path / "logs", script, cwd=tmp_path)
    assert done.returncode == status, done.stdout
    logs = [(tmp_path / "logs" / f"workerlog.{rank}").read_text(encoding="utf-8") for rank in range(2)]
    assert said in logs[1]
    assert "worker.py" not in logs[1]
    assert "runpy" not in logs[1]
    assert "never" not in logs[0]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_killed_rank_ends_all(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    failure = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    script.write_text(FAILING.format(failure=failure), encoding="utf-8")
    before = time.monotonic()
    done = job(2, script, cwd=tmp_path)
    assert done.returncode == signal.SIGKILL, done.stdout
    assert "never" not in done.stdout
    assert time.monotonic() - before < 60  # without an end, the others would wait until the limit of 120 s


def test_a_module_runs_with_its_arguments(tmp_path: Path) -> None:
    lines: Sequence[str] = (
        "import os, sys",
        "from engine.distributed import ParallelEnv",
        "env = ParallelEnv()",
        "shown = (__name__, sys.argv[1:], env.rank, env.current_endpoint, os.environ['PADDLE_LOCAL_RANK'])",
        "sys.stdout.write(' '.join(map(str, shown)) + '\\n')  # at once: two processes write",
    )
    (tmp_path / "shown.py").write_text("\n".join(lines), encoding="utf-8")
    done = job(2, "-m", "shown", "--x", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    for rank in range(2):
        assert f"__main__ ['--x', '1'] {rank} 127.0.0.1:{6170 + rank} {rank}\n" in done.stdout
