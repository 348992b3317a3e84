"""TrainingConfig, the settings of one training run, each checked before anything is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from engine.core.errors import ArgumentError
from engine.training.rules.rules import trial_problem
from resources.settings import CHANGEABLE, OUT, SETTINGS, Settings, as_recorded, problems
from resources.settings.data import FIT

__all__ = ["FIT", "TrainingConfig", "setting_problems"]


@dataclass(frozen=True)
class TrainingConfig(Settings):
    """All settings of a training, as plain values; ``resources.settings`` declares them.

    Args:
        out: the folder of the run; empty writes nothing at all.

    Raises:
        ArgumentError: a setting is outside what it takes; names the setting, the value and what is allowed.
    """

    out: str = OUT.default

    def __post_init__(self) -> None:
        for name, problem in setting_problems(self.as_dict()).items():
            raise ArgumentError(f"TrainingConfig.{name}: {problem}")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainingConfig:
        """A config from plain values as ``as_dict`` gives them; what is missing has its default.

        A config without ``kind`` was recorded by an earlier version: it describes the same run as then.

        Raises:
            ArgumentError: an unknown name or a value outside what its setting takes; the config of a ``fit``
                in a script, which only the script can make again.
        """
        if not isinstance(values, Mapping):
            raise ArgumentError(
                f"TrainingConfig: takes its settings by name: got {values!r:.80}; give what as_dict() gave"
            )
        if values.get("kind") == FIT:
            script = values.get("script") or "the script"
            raise ArgumentError(
                f"run: it is a fit of {script}, which has the network and the data: it can't be continued or "
                f"exported without it; run the script again, with model.load(CHECKPOINT) before fit"
            )
        for name in values:
            if name not in SETTINGS:
                raise ArgumentError(
                    f"TrainingConfig: no such setting: {name!r}; the settings are {', '.join(SETTINGS)}"
                )
        return cls(**as_recorded(values))

    def as_dict(self) -> dict[str, Any]:
        """All settings as plain values, for a file or another process."""
        return asdict(self)

    def changed(self, **changes: Any) -> TrainingConfig:
        """A copy with some settings replaced, checked again."""
        return replace(self, **changes)

    def continued(self, **changes: Any) -> TrainingConfig:
        """This config for resuming from a checkpoint.

        Raises:
            ArgumentError: a change would make it another run (another model, data, seed, batch size ...).
        """
        for name, value in changes.items():
            if name not in CHANGEABLE and value != getattr(self, name):
                raise ArgumentError(
                    f"TrainingConfig.{name}: a continued run keeps what it was started with: it has "
                    f"{getattr(self, name)!r}, asked for {value!r}; start a new run for that "
                    f"(these may change: {', '.join(CHANGEABLE)})"
                )
        return self.changed(**changes)


def setting_problems(values: Mapping[str, Any]) -> dict[str, str]:
    """What is wrong with these settings, by name: ``what: value seen; what to do``.

    Beyond the declared ranges the schedule is made once, to see whether its parameters fit each other.
    """
    found = problems(values)
    if not found and {"schedule", "learning_rate"} <= values.keys():
        trouble = trial_problem(values)
        if trouble:
            found["schedule_params"] = trouble
    return found
