"""What the golden files give when they are used: the same functions record it and compare with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import engine as paddle
from engine import static
from engine.jit import load
from engine.training.training_run import TrainingRun
from tests.golden.golden_files import RUN, images_of
from tests.golden.networks import outputs, program_losses, small_network, train

PREFIXES = {"exported": RUN / "inference/model", "quantized": RUN / "inference/quantized"}
SEED = 7


def predicted(project: Path, kind: str) -> list[list[float]]:
    """The probabilities of the test images by one of the saved models."""
    layer = load(str(project / PREFIXES[kind]))
    layer.eval()
    rows: list[list[float]] = np.asarray(layer(paddle.to_tensor(images_of(project)))).tolist()
    return rows


def resumed(folder: Path, epochs: int) -> dict[str, float]:
    """The last epoch of a run that is resumed until ``epochs``; its project is the working folder."""
    found: list[Any] = []
    TrainingRun.from_folder(folder, [found.append], epochs=epochs).run()
    return epoch_of(found)


def epoch_of(events: list[dict[str, Any]]) -> dict[str, float]:
    """What is compared of the last epoch among some events."""
    event = [each for each in events if each["event"] == "epoch"][-1]
    return {name: event[name] for name in ("epoch", "step", "train_loss", "validation_loss")}


def restored_network(folder: Path) -> dict[str, Any]:
    """A network and an optimizer that go on from the state dicts: results, and further losses."""
    paddle.seed(1)
    network, optimizer = small_network()
    network.set_state_dict(paddle.load(str(folder / "network.pdparams")))
    optimizer.set_state_dict(paddle.load(str(folder / "network.pdopt")))
    return {"outputs": outputs(network), "further_losses": train(network, optimizer, 3)}


def packed_outputs(folder: Path) -> dict[str, list[list[float]]]:
    """The results of each packed model."""
    return {path.name: outputs(load(str(path))) for path in sorted(folder.glob("*.h5"))}


def restored_program(folder: Path) -> list[float]:
    """Losses of the saved training Program, trained on from its saved parameters."""
    paddle.seed(SEED)
    paddle.enable_static()
    try:
        program = paddle.load(str(folder / "trained.pdmodel"))
        with static.scope_guard(static.Scope()):
            static.load(program, str(folder / "trained"))
            (loss,) = [name for name in program.global_block().vars if name == "mean_0.tmp_0"]
            return program_losses(program, loss)
    finally:
        paddle.disable_static()
