"""Microseconds a prediction of a saved model takes: loaded as a Layer, to predict with, and by a predictor.

``python -m bench.latency [--network lenet|mlp|vgg|...] [--batch 1] [--calls 300] [--rounds 10]``. All rows
run in one process, in alternation; the time is that of this process's CPU, so pin the process (``taskset``)
for one thread. All predict by frozen plans, the first one from its second call on."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import engine as paddle
from bench.nets import ROWS, Job
from bench.peers.paddle_nets import NETWORKS, network
from bench.timing import paired_ratio, table, take_turns
from engine import inference, static
from engine.kernels.choice import NUMPY_RUNS


def main(arguments: list[str] | None = None) -> None:
    """Measure and print one table."""
    made = argparse.ArgumentParser("bench.latency", description=__doc__.splitlines()[0])
    made.add_argument("--network", choices=list(NETWORKS), default="lenet")
    made.add_argument("--batch", type=int, default=1)
    made.add_argument("--calls", type=int, default=300)
    made.add_argument("--rounds", type=int, default=10)
    options = made.parse_args(arguments)
    sizes = next(row.job.sizes for row in ROWS.values() if row.job.net == options.network)
    job = Job(options.network, options.batch, sizes)
    model = network(paddle, job)
    model.eval()
    images = job.data()[0]
    with tempfile.TemporaryDirectory() as folder:
        prefix = str(Path(folder) / "model")
        paddle.jit.save(model, prefix, [static.InputSpec([None, *images.shape[1:]], "float32")])
        plain, frozen = paddle.jit.load(prefix), paddle.jit.load(prefix, for_prediction=True)
        predictor = inference.create_predictor(inference.Config(f"{prefix}.pdmodel", f"{prefix}.pdiparams"))
    x = paddle.to_tensor(images)
    given = predictor.get_input_handle(predictor.get_input_names()[0])
    result = predictor.get_output_handle(predictor.get_output_names()[0])

    def by_handles() -> Any:
        given.copy_from_cpu(images)
        predictor.run()
        return result.copy_to_cpu()

    def timed(call: Callable[[], Any]) -> Callable[[], float]:
        for _ in range(NUMPY_RUNS + 1):  # the last one waits for compiled kernels
            call()

        def one_round() -> float:
            begin = time.process_time()
            for _ in range(options.calls):
                call()
            return (time.process_time() - begin) / options.calls

        return one_round

    contenders = {
        "jit.load": timed(lambda: plain(x)),
        "jit.load(for_prediction=True)": timed(lambda: frozen(x)),
        "predictor, copies included": timed(by_handles),
    }
    series = take_turns(contenders, options.rounds)
    rows = [[f"{options.network}, batch {options.batch}", "min us", "median us", "ratio"]]
    for each in series:
        rows.append(
            [
                each.name,
                f"{1e6 * each.best:.1f}",
                f"{1e6 * each.typical:.1f}",
                f"{paired_ratio(each, series[0]):.2f}",
            ]
        )
    print(table(rows))


if __name__ == "__main__":
    main()
