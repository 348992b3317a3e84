"""Worker: steps of the networks of ``bench.nets`` in a library with Paddle's interface.

``python -m bench.peers.paddle_steps LIBRARY MODE`` with LIBRARY ``paddle`` or ``engine`` and MODE ``eager``,
``layer`` (the network is converted) or ``static`` (in the engine the whole step is converted; Paddle converts
the network alone). The jobs are those of ``bench.contest``.
"""

from __future__ import annotations

import gc
import gzip  # noqa: F401 - importing it after paddle crashes paddle 2.6.2
import importlib
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.nets import LEARNING_RATE, Job, cross_entropy
from bench.peers.answering import Compiled, answer_jobs
from bench.peers.paddle_nets import network
from bench.peers.protocol import imported, threads


def training(library: Any, mode: str, job: Job) -> Callable[[], float]:
    """A step (forward, loss, backward, Adam) from the initial weights; gives its loss."""
    model = network(library, job)
    optimizer = library.optimizer.Adam(learning_rate=LEARNING_RATE, parameters=model.parameters())
    inputs, labels = job.data()
    x, y = library.to_tensor(inputs), library.to_tensor(labels.reshape(-1, 1))
    loss_of = library.nn.functional.cross_entropy
    whole = mode == "static" and library.__name__ == "engine"
    forward = model if mode == "eager" or whole else library.jit.to_static(model)

    def step(images: Any, truth: Any) -> Any:
        loss = loss_of(forward(images), truth)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    run = library.jit.to_static(step) if whole else step
    return lambda: run(x, y)


def predicting(library: Any, mode: str, job: Job) -> Callable[[], Any]:
    """A prediction of the network, which but for ``eager`` is saved and loaded; gives logits ``[N, 10]``."""
    model = network(library, job)
    model.eval()
    inputs, _ = job.data()
    x = library.to_tensor(inputs)
    if mode != "eager":
        spec = [library.static.InputSpec([None, *job.shape], "float32", "x")]
        own = {"for_prediction": True} if library.__name__ == "engine" else {}
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "model")
            library.jit.save(model, path, input_spec=spec)
            model = library.jit.load(path, **own)
        model.eval()

    def predict() -> Any:
        with library.no_grad():
            return model(x).numpy()

    return predict


def main(name: str, mode: str) -> None:
    """Serve jobs."""
    library, described = imported(name)
    library.set_device("cpu")
    if name == "engine":
        library.set_num_threads(threads())

    def make(kind: str, job: Job) -> tuple[Callable[[], Any], Callable[[Any], float]]:
        if kind == "train":
            return training(library, mode, job), float
        labels = job.data()[1]
        return predicting(library, mode, job), lambda logits: cross_entropy(logits, labels)

    answer_jobs(described, make, compiled_kernels() if name == "engine" else None)


def compiled_kernels() -> Compiled | None:
    """The engine's compiled kernels; None where NumPy's are chosen, or nothing can be compiled."""
    wanted = os.environ.get("MODEL_STUDIO_KERNELS")
    if wanted not in ("auto", "fast"):
        return None
    if not importlib.import_module("engine.kernels.fast.compiler").available():
        return None
    choice = importlib.import_module("engine.kernels.choice")
    # Checkouts from before the number was fixed take them as soon as they are there.
    runs = getattr(choice, "NUMPY_RUNS", 1) if wanted == "auto" else 1
    return Compiled(runs, wait_for_kernels, _kernels, lambda: choice.kernels.guard("fast"))


def wait_for_kernels() -> None:
    """Wait until every kernel that a plan has asked for is compiled, or can't be."""
    compiler = importlib.import_module("engine.kernels.fast.compiler").compiler()
    for _ in range(3):  # what is asked for, its kernels, and the news that they are there wait in one queue
        done = threading.Event()
        compiler.submit(done.set)
        done.wait()


def _kernels() -> dict[str, dict[str, int]]:
    """How many calls of each operator the plans of this process make: by compiled kernels, and by NumPy's."""
    plans = importlib.import_module("engine.program.run.kernels").Kernels
    frozen = importlib.import_module("engine.program.run.frozen.plan").FrozenPlan
    found: dict[str, dict[str, int]] = {}
    for one in gc.get_objects():
        if isinstance(one, (plans, frozen)):
            said = one.report() if isinstance(one, plans) else one.bound_kernels()
            for name, whose in said:
                calls = found.setdefault(whose, {})
                calls[name] = calls.get(name, 0) + 1
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
