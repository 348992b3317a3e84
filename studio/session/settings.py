"""What a user chooses before a training, as typed values for project files, forms and the worker's job."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

# (value, title) for the lists on screen; a test holds them to the names that the engine knows. They stand
# here so that the window can show before the engine is imported.
DATA_CHOICES: tuple[tuple[str, str], ...] = (("digits", "Digits (built in)"), ("mnist", "MNIST"))
MODEL_CHOICES: tuple[tuple[str, str], ...] = (("lenet", "LeNet"), ("linear", "Linear"), ("cnn", "Small CNN"))
OPTIMIZER_CHOICES: tuple[tuple[str, str], ...] = (("adam", "Adam"), ("sgd", "SGD"))
DEVICE_CHOICES: tuple[tuple[str, str], ...] = (("cpu", "CPU"), ("gpu", "GPU"))
MODE_CHOICES: tuple[tuple[bool, str], ...] = ((True, "Static"), (False, "Eager"))


class RunSettings(BaseModel):
    """The settings of a training; what values are allowed is checked by the engine's TrainingConfig."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    data: str = "digits"
    model: str = "lenet"
    optimizer: str = "adam"
    learning_rate: float = 0.001
    batch_size: int = 64
    epochs: int = 5
    seed: int = 0
    static: bool = True
    device: str = "cpu"
    checkpoint_every: int = 200
    keep: int = 3
    on_divergence: Literal["stop", "continue"] = "stop"
    samples: int = 0

    def as_config(self, out: str) -> dict[str, Any]:
        """The values of a TrainingConfig that writes into ``out``."""
        return {**self.model_dump(), "out": out}

    @property
    def user_file(self) -> str:
        """The user's own Python file, empty for a built-in model."""
        path, separator, _ = self.model.rpartition(":")
        return path if separator else ""


def field_problems(settings: RunSettings) -> dict[str, str]:
    """What is wrong, by field: ``what: value seen; what to do``. Imports the engine."""
    from engine.training.config import field_problem

    problems = {name: field_problem(name, value) for name, value in settings.model_dump().items()}
    return {name: problem for name, problem in problems.items() if problem}


def title_of(value: str) -> str:
    """The title of a built-in choice, or the last part of a path."""
    for choices in (DATA_CHOICES, MODEL_CHOICES, OPTIMIZER_CHOICES, DEVICE_CHOICES):
        for name, title in choices:
            if name == value:
                return title
    return value.replace("\\", "/").rpartition("/")[2] or value
