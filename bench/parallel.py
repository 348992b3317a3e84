"""us an all-reduce of float32 next to the one of bare mpi4py, and steps a second of training.

``python -m bench.parallel [--processes 2] [--rounds 30] [--only all-reduce|training]``. Both all-reduces take
turns in the same processes, small arrays with more calls a turn; the shortest and the middle turn are shown.
Training: LeNet and ResNet-18 with one process and with several, a fifth of the rounds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from bench import parallel_training
from bench.timing import table
from engine.distributed.mpi import find_mpiexec, library

SIZES = (1, 1024, 61_706, 262_144, 1_048_576, 4_194_304)  # 61,706: the parameters of LeNet


def measure(rounds: int) -> None:
    """What each process does; the first prints the table."""
    import engine as paddle
    from engine import distributed as dist

    dist.init_parallel_env()
    comm, mpi = library().COMM_WORLD, library()
    rows = [["float32", "engine best", "mpi4py best", "ratio", "engine median", "mpi4py median"]]
    for size in SIZES:
        tensor, array = paddle.zeros([size]), np.zeros(size, np.float32)
        turns: dict[str, Callable[[], object]] = {
            "engine": lambda tensor=tensor: dist.all_reduce(tensor),
            "mpi4py": lambda array=array: comm.Allreduce(mpi.IN_PLACE, array),
        }
        calls = max(2, 2_000_000 // (size * 4 + 4000))
        taken: dict[str, list[float]] = {name: [] for name in turns}
        for _ in range(rounds):
            for name, call in turns.items():
                comm.Barrier()
                start = time.perf_counter()
                for _ in range(calls):
                    call()
                taken[name].append((time.perf_counter() - start) / calls * 1e6)
        best = {name: min(times) for name, times in taken.items()}
        middle = [f"{median(times):.1f}" for times in taken.values()]
        ratio = best["engine"] / best["mpi4py"]
        rows.append([f"{size * 4:,} B", *(f"{us:.1f}" for us in best.values()), f"{ratio:.2f}", *middle])
    if comm.rank == 0:
        print(f"us an all-reduce, {comm.size} processes, {mpi.Get_library_version().splitlines()[0]}")
        print(table(rows), flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Start the processes, or be one of them."""
    parser = argparse.ArgumentParser(prog="python -m bench.parallel", description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--only", choices=("all-reduce", "training"))
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--net", help=argparse.SUPPRESS)
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.rank:
        measure(options.rounds)
        return
    if options.net:
        parallel_training.measure(options.net, options.batch, options.rounds)
        return
    if options.only != "all-reduce":
        parallel_training.compare(options.processes, max(1, options.rounds // 5))
    if options.only == "training":
        return
    worker = [sys.executable, "-m", "engine.distributed.worker", "-m", "bench.parallel", "--rank"]
    command = [find_mpiexec(), "-n", str(options.processes), *worker, "--rounds", str(options.rounds)]
    sys.exit(subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    main()
