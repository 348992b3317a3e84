"""What the setting ``recompute`` saves and costs: ResNet-18, images of 32 x 32, batches of 32.

``python -m bench.recompute [--batch N] [--steps N] [--rounds N]``. Each way runs in a separate process, in
turns; printed are the most memory that a process took, before the first step and in all, and the time of a
step. Losses are printed too: they are bitwise identical. A minute and a half with the defaults.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from statistics import median
from typing import Any

from bench.peers.paddle_nets import resnet
from bench.peers.protocol import peak_memory
from bench.timing import table

WAYS = [(static, recompute) for static in (True, False) for recompute in (False, True)]
WARM_UP = 2


def train(batch: int, steps: int, static: bool, recompute: bool) -> dict[str, Any]:
    """Train in this process: megabytes before and in all, seconds of each step, on the clock and computed
    by all threads, the last loss."""
    import engine as paddle
    from engine.training.network.recomputing import recompute_blocks
    from engine.training.stepper import Stepper

    paddle.seed(1)
    network = resnet(paddle)
    if recompute:
        recompute_blocks(network)
    optimizer = paddle.optimizer.Adam(0.001, parameters=network.parameters())
    stepper = Stepper(network, optimizer, static, (3, 32, 32))
    images, labels = paddle.randn([batch, 3, 32, 32]), paddle.randint(0, 10, [batch, 1])
    before = peak_memory() or 0
    seconds, cpu, loss = [], [], 0.0
    for _ in range(WARM_UP + steps):
        begin, computed = time.perf_counter(), time.process_time()
        loss, _ = stepper.train(images, labels)
        seconds.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - computed)
    return {
        "before": before,
        "peak": peak_memory() or 0,
        "seconds": seconds[WARM_UP:],
        "cpu": cpu[WARM_UP:],
        "loss": loss,
    }


def main(arguments: list[str] | None = None) -> None:
    """Read the options and print the table."""
    parser = argparse.ArgumentParser(description="What the setting recompute saves and costs.")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--way", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.way is not None:
        print(json.dumps(train(options.batch, options.steps, *WAYS[options.way])))
        return
    found: dict[int, list[dict[str, Any]]] = {way: [] for way in range(len(WAYS))}
    for _ in range(options.rounds):
        for way, results in found.items():
            command = [sys.executable, "-m", "bench.recompute", "--way", str(way)]
            command += ["--batch", str(options.batch), "--steps", str(options.steps)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            results.append(json.loads(done.stdout))
    rows = [["", "MB", "before", "ms min", "ms median", "cpu ms min", "cpu ms median", "loss"]]
    for way, results in found.items():
        static, recompute = WAYS[way]
        seconds, cpu = ([s for result in results for s in result[each]] for each in ("seconds", "cpu"))
        rows.append(
            [
                f"{'static' if static else 'eager'}{', recompute' if recompute else ''}",
                f"{max(r['peak'] for r in results) / 1e6:.0f}",
                f"{max(r['before'] for r in results) / 1e6:.0f}",
                f"{min(seconds) * 1e3:.0f}",
                f"{median(seconds) * 1e3:.0f}",
                f"{min(cpu) * 1e3:.0f}",
                f"{median(cpu) * 1e3:.0f}",
                repr(results[0]["loss"]),
            ]
        )
    print(table(rows))


if __name__ == "__main__":
    main()
