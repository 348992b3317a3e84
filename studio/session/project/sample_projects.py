"""The sample projects of the first page: each trains within a minute on a CPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import resources
from studio.session.project.project_folder import CODE
from studio.session.train.run_settings import RunSettings

MODEL_FILE, MODEL_CLASS = "model.py", "OwnModel"


@dataclass(frozen=True)
class Sample:
    """A project to begin with. ``settings`` differ from the defaults, in the order in which they are made;
    ``code`` is the file in ``resources/samples`` that becomes the project's model, empty for none."""

    id: str
    title: str
    help: str
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    code: str = ""

    def settings_in(self, folder: Path) -> RunSettings:
        """The settings of the project in ``folder``."""
        settings = RunSettings()
        for name, value in self.settings.items():
            settings = settings.changed(name, value)
        if self.code:
            settings = settings.changed("model", f"{folder / CODE / MODEL_FILE}:{MODEL_CLASS}")
        return settings

    def write_code(self, folder: Path) -> Path | None:
        """Put the model into the project in ``folder``; returns its file. Raises OSError."""
        if not self.code:
            return None
        path = folder / CODE / MODEL_FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.source())
        return path

    def source(self) -> bytes:
        """The text of its model."""
        return Path(resources.folder("samples"), self.code).read_bytes()


SAMPLES: tuple[Sample, ...] = (
    Sample("digits-lenet", "Digits with LeNet", "The first network for digits; the images are built in."),
    Sample(
        "mnist-lenet",
        "MNIST with LeNet",
        "20000 handwritten digits; downloaded once.",
        MappingProxyType({"data": "mnist", "samples": 20_000, "epochs": 2}),
    ),
    Sample(
        "own-model",
        "A model of your own",
        "A small network in code/model.py to change.",
        MappingProxyType({"epochs": 3}),
        "own_model.txt",
    ),
    Sample(
        "falling-rate",
        "A learning rate schedule",
        "Momentum, with a learning rate that follows a cosine.",
        MappingProxyType(
            {
                "model": "cnn",
                "optimizer": "momentum",
                "learning_rate": 0.05,
                "epochs": 4,
                "schedule": "cosine_annealing_decay",
            }
        ),
    ),
)
BY_ID = {sample.id: sample for sample in SAMPLES}
