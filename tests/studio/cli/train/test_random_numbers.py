"""What the command train shows draws nothing from the generators of the user's model."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from engine.training import TrainingConfig, TrainingRun
from engine.training.randomness import random_state
from engine.training.setup import Parts, build_parts
from studio.cli.train.train_command import Watcher
from tests.robust.small_training import same

STEPS = 200


def test_nothing_but_the_order_of_data_is_drawn_in_200_steps(tmp_path: Path) -> None:
    """The model here draws nothing, and NumPy's generator gives the order of each epoch."""
    left: dict[str, Any] = {}
    drawn: list[tuple[int, str]] = []

    def parts(config: TrainingConfig, source: Path | None) -> Parts:
        made = build_parts(config, source)
        train = made.stepper.train

        def watched(*args: Any) -> Any:
            state, done = random_state(), run.progress
            for name in ("engine", "numpy", "python"):
                ordered = name == "numpy" and not done.step_in_epoch
                if done.step and not ordered and not same(left[name], state[name]):
                    drawn.append((done.step, name))
            result = train(*args)
            left.update(random_state())
            return result

        made.stepper.train = watched
        return made

    settings = {"data": "digits", "model": "linear", "samples": STEPS, "batch_size": 2, "static": False}
    config = TrainingConfig.from_dict(
        {**settings, "epochs": 2, "out": str(tmp_path / "run"), "checkpoint_every": 50, "layers_every": 50}
    )
    watcher = Watcher()
    run = TrainingRun(config, [watcher], parts=parts)
    with watcher:
        run.run()
    assert run.progress.step == STEPS
    assert drawn == []
    begun = random.Random(config.seed)
    assert random.getstate() == begun.getstate()
