"""ModelChoice: what can be asked on Predict, saved files or a run at one of its checkpoints."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from resources.settings.export import ENDINGS
from studio.session.runs.runs_folder import CHECKPOINTS

if TYPE_CHECKING:
    from engine.core.models.limits import ModelLimits
    from engine.inference.process import ModelProcess

BEST = "best.h5"
_IN_FOLDER = "__model__"  # of Paddle before 2.0
_STEP = re.compile(r"step-(\d{8,18})\.h5")


@dataclass(frozen=True)
class ModelChoice:
    """Inference files under the prefix ``path``, or the run in the folder ``path`` at ``checkpoint``, one of
    its files. ``agreed`` is the digest of the run's code that may run."""

    path: str
    checkpoint: str = ""
    agreed: str = field(default="", compare=False)

    @property
    def of_run(self) -> bool:
        return bool(self.checkpoint)

    @property
    def key(self) -> str:
        """What finds it in a list: the prefix, or the folder of the run with a separator at its end."""
        return run_key(self.path) if self.of_run else self.path

    def process(self, limits: ModelLimits) -> ModelProcess:
        """A process for it. Raises ArgumentError for a prefix without a name."""
        from engine.inference.process import ModelProcess
        from engine.inference.run_process import RunProcess

        if self.of_run:
            return RunProcess(self.path, self.checkpoint, limits, self.agreed)
        return ModelProcess(self.path, limits)


def has_files(path: str) -> bool:
    """Whether a saved model exists: under the prefix ``path``, in this one file, or in this folder."""
    names = (path, *(path + ending for ending in (".pdmodel", ".json", *ENDINGS.values())))
    return any(Path(name).is_file() for name in (*names, os.path.join(path, _IN_FOLDER)))


def run_key(folder: str) -> str:
    """The key of a run in a list of models."""
    return folder.rstrip(os.sep) + os.sep


@dataclass(frozen=True)
class CheckpointFile:
    """A checkpoint of a run: its step (-1 for the best one, whose step its content says) and its path."""

    step: int
    path: str

    @property
    def best(self) -> bool:
        return self.step < 0


def checkpoints_of(folder: str) -> list[CheckpointFile]:
    """The checkpoints of a run by their names: those of steps in order, then the best one.

    Empty where there are none, or where the folder can't be read.
    """
    try:
        names = [file.name for file in (Path(folder) / CHECKPOINTS).iterdir()]
    except (OSError, ValueError):
        return []
    place = Path(folder) / CHECKPOINTS
    steps = [(int(match[1]), name) for name in names if (match := _STEP.fullmatch(name))]
    found = [CheckpointFile(step, str(place / name)) for step, name in sorted(steps)]
    return [*found, *([CheckpointFile(-1, str(place / BEST))] if BEST in names else [])]


def run_choice(folder: str, agreed: str = "") -> ModelChoice | None:
    """The run with its best weights, else with the last ones; None where it has no checkpoint."""
    found = checkpoints_of(folder)
    return ModelChoice(folder, found[-1].path, agreed) if found else None


def model_title(prefix: str, names: Mapping[str, str]) -> tuple[str, str]:
    """A model's name for a list: the run that it comes from where there is one, and the name of its files;
    ``names`` has those of runs, by folder."""
    path = Path(prefix)
    if path.parent.name == "inference":
        run = path.parent.parent
        return names.get(str(run), run.name), path.name
    return path.name, path.parent.name


def model_name(prefix: str, names: Mapping[str, str]) -> str:
    """A saved model in one name, which a run does not have too; ``names`` as for ``model_title``."""
    title, file = model_title(prefix, names)
    return f"{title} \u00b7 {file}" if Path(prefix).parent.name == "inference" else title
