"""sweep.json: what a sweep varies, its trials and how far they are; read with checks, written atomically.

The file may be untrusted. It names no folder to write to and no code but the user's models, which
run only as agreed (:mod:`studio.session.sweep.models`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
)

from resources.settings import problems
from studio.session.project.project_file import ProjectError, read_document, write_document
from studio.session.sweep.parameters import Parameter, Value, short_name, with_choices
from studio.session.sweep.plan import MOST_TRIALS
from studio.session.train.run_settings import RunSettings

NAME = "sweep.json"
LOCK = "sweep.lock"
MESSAGE = 800  # characters of what a trial failed with
State = Literal["waiting", "running", "interrupted", "done", "dropped", "diverged", "failed", "invalid"]
_STRICT = ConfigDict(extra="forbid", strict=True)
_REMEDY = "give the folder of a sweep that Model Studio wrote"


class Measurement(BaseModel):
    """What a trial had reached after ``epochs`` epochs: the results of the best of them, ``best``.

    A result that is not the metric may be None, where it was not a finite number. Trials that predict numbers
    have ``r2`` and ``mae`` instead of the accuracy.
    """

    model_config = _STRICT

    epochs: int = Field(ge=1, le=1_000_000)
    best: int = Field(ge=1, le=1_000_000)
    accuracy: FiniteFloat | None
    loss: FiniteFloat | None
    r2: FiniteFloat | None = None
    mae: FiniteFloat | None = None

    @model_serializer(mode="wrap")
    def _without_absent(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """As earlier versions read it, where there are no numbers."""
        found: dict[str, Any] = plain(self)
        return {
            name: value for name, value in found.items() if name not in ("r2", "mae") or value is not None
        }

    def figure(self, metric: str) -> float | None:
        """The value of a sweep's metric; of ``accuracy``, that of the trial's task."""
        if metric == "loss":
            return self.loss
        return self.r2 if self.accuracy is None else self.accuracy


class Trial(BaseModel):
    """One training of a sweep; its run is in the folder ``name`` next to sweep.json.

    ``state`` is dropped where a halving went on without it, and invalid where no training takes its
    choices. ``message`` says what went wrong.
    """

    model_config = _STRICT

    number: int = Field(ge=1, le=MOST_TRIALS)
    choices: dict[str, Value]
    state: State = "waiting"
    measured: list[Measurement] = Field(default_factory=list, max_length=100)
    message: str = Field(default="", max_length=MESSAGE)

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"trial-{self.number:03d}"

    def at(self, epochs: int) -> Measurement | None:
        """What it had reached after so many epochs; None where it has not come so far."""
        return next((each for each in self.measured if each.epochs == epochs), None)


class Halving(BaseModel):
    """Successive halving: at each rung the best one of ``eta`` trials continues."""

    model_config = _STRICT

    eta: int = Field(ge=2, le=1000)
    min_epochs: int = Field(ge=1, le=1_000_000)


class Search(BaseModel):
    """A search that chooses its trials from the results of earlier ones, up to ``trials``.

    Each ``round`` of so many trials is proposed when that before has ended.
    """

    model_config = _STRICT

    kind: Literal["bayes"] = "bayes"
    trials: int = Field(ge=1, le=MOST_TRIALS)
    round: int = Field(ge=1, le=MOST_TRIALS)


class Sweep(BaseModel):
    """What sweep.json holds. Version 2 is the first that has searches and invalid trials.

    ``models`` has the digest of the code of each of the user's model files, ``mark`` says who wrote that.
    ``files`` has the SHA-256 of each file, for models that import others: it names the one that changed.
    """

    model_config = _STRICT

    format: Literal["model-studio sweep"] = "model-studio sweep"
    version: Literal[1, 2] = 2
    settings: RunSettings
    parameters: list[Parameter] = Field(min_length=1, max_length=100)
    halving: Halving | None = None
    search: Search | None = None
    metric: Literal["accuracy", "loss"] = "accuracy"
    goal: Literal["max", "min"] = "max"
    models: dict[str, str] = Field(default_factory=dict, max_length=1000)
    mark: str = Field(default="", max_length=100)
    files: dict[str, dict[str, str]] = Field(default_factory=dict, max_length=1000)
    trials: list[Trial] = Field(default_factory=list, max_length=MOST_TRIALS)

    @model_serializer(mode="wrap")
    def _without_absent(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """As earlier versions read it, where it has nothing that they do not know."""
        found: dict[str, Any] = plain(self)
        if (
            "version" in found
            and self.search is None
            and all(each.state != "invalid" for each in self.trials)
        ):
            found["version"] = 1
        return {name: value for name, value in found.items() if name not in ("files", "search") or value}

    @field_validator("version")
    @classmethod
    def _as_written_now(cls, version: int) -> int:
        return 2

    @property
    def planned(self) -> int:
        """How many trials it has when it is through."""
        return len(self.trials) if self.search is None else self.search.trials

    def settings_of(self, trial: Trial) -> dict[str, Any]:
        """All settings of a trial's training, without its folder."""
        return with_choices(self.settings.as_dict(), trial.choices)


def read_sweep(folder: Path) -> Sweep:
    """The sweep in ``folder``.

    Raises:
        ProjectError: no sweep there, a damaged one, one of a later version, or with settings that no training
            takes.
    """
    path = folder / NAME
    sweep = read_document(path, Sweep, _REMEDY)
    names = {parameter.name for parameter in sweep.parameters}
    if not sweep.trials and sweep.search is None:
        raise ProjectError(f"{path}: trials: none; {_REMEDY}")
    _require_searchable(path, sweep)
    for place, trial in enumerate(sweep.trials, 1):
        if trial.number != place or trial.choices.keys() != names:
            raise ProjectError(
                f"{path}: trial {place}: not what its parameters say: {trial!r:.100}; {_REMEDY}"
            )
        settings = sweep.settings.as_dict()
        if trial.state == "invalid" and _are_settings(settings, trial.choices):
            continue
        for name, problem in trial_problems(settings, trial.choices).items():
            raise ProjectError(f"{path}: trial {place}: {short_name(name)}: {problem}")
    return sweep


def write_sweep(folder: Path, sweep: Sweep) -> None:
    """Write the sweep atomically. Raises SaveError."""
    write_document(folder / NAME, sweep)


def _are_settings(settings: dict[str, Any], choices: dict[str, Any]) -> bool:
    try:
        with_choices(settings, choices)
    except (KeyError, TypeError):
        return False
    return True


def _require_searchable(path: Path, sweep: Sweep) -> None:
    """Refuse a search that could propose nothing, or more than it says. Raises ProjectError."""
    if sweep.search is None:
        return
    if sweep.halving is not None:
        raise ProjectError(f"{path}: a search has no halving: got both; {_REMEDY}")
    if len(sweep.trials) > sweep.search.trials:
        raise ProjectError(
            f"{path}: more trials than its search has: {len(sweep.trials)}, {sweep.search.trials}; {_REMEDY}"
        )
    for each in sweep.parameters:
        sound = each.low < each.high and (each.low > 0 or not each.log)
        if not each.values and not (sound and max(abs(each.low), abs(each.high)) < 2**53):
            raise ProjectError(f"{path}: {short_name(each.name)}: no range: {each!r:.100}; {_REMEDY}")


def trial_problems(settings: dict[str, Any], choices: dict[str, Any]) -> dict[str, str]:
    """What is wrong with the settings of a trial, by name; needs no engine."""
    try:
        return problems(with_choices(settings, choices))
    except (KeyError, TypeError) as error:  # untrusted choices may name anything
        return {", ".join(choices): f"no such setting: {error}"}
