"""A new sweep from what was asked for: every trial's settings are checked before anything starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from studio.session.sweep.document import Halving, Sweep, Trial
from studio.session.sweep.models import code_of, located, mark_of, model_file
from studio.session.sweep.parameters import parse_parameter, short_name, short_text, with_choices
from studio.session.sweep.plan import MOST_TRIALS, drawn, grid
from studio.session.train.run_settings import RunSettings

Metric = Literal["accuracy", "loss"]
Goal = Literal["max", "min"]


def new_sweep(
    settings: Mapping[str, Any],
    words: Sequence[str],
    *,
    trials: int = 0,
    halving: Halving | None = None,
    metric: Metric = "accuracy",
    goal: Goal | None = None,
) -> Sweep:
    """The sweep of these parameters over settings that stay.

    Args:
        words: ``NAME=VALUES`` each.
        trials: how many combinations to draw at random with the seed of the settings; 0 takes all.
        goal: that of the metric where it is None.

    Raises:
        ValueError: a parameter, a value or a combination that no training takes; names it.
        DataError: the file of a model does not exist.
    """
    if not words:
        raise ValueError("nothing to vary: got no --param; give e.g. --param lr=0.1,0.01")
    if not 0 <= trials <= MOST_TRIALS:
        raise ValueError(f"--trials must be from 0 to {MOST_TRIALS}: got {trials}; 0 takes every combination")
    parameters = [parse_parameter(word, settings, words) for word in words]
    for place, parameter in enumerate(parameters):
        if any(parameter.name == other.name for other in parameters[:place]):
            raise ValueError(
                f"{short_name(parameter.name)} is given twice: give all its values in one --param"
            )
    if halving is not None and any(parameter.name == "epochs" for parameter in parameters):
        raise ValueError("epochs: a halving decides how many epochs a trial gets; give them with --epochs")
    chosen = drawn(parameters, trials, int(settings["seed"])) if trials else grid(parameters)
    base = located(settings)
    if base["model"] == "auto":  # a suggestion leaves each value of a trial as it is
        varied = (parameter.name.partition(".")[0] for parameter in parameters)
        base["given"] = tuple(dict.fromkeys((*base.get("given", ()), *varied)))
    chosen = [_located(base, choices) for choices in chosen]
    _check(base, chosen)
    files = {model_file(with_choices(base, choices)) for choices in chosen} - {""}
    code = {file: code_of(file) for file in sorted(files)}
    models = {file: each.digest for file, each in code.items()}
    return Sweep(
        settings=RunSettings(**base),
        parameters=parameters,
        halving=halving,
        metric=metric,
        goal=goal or ("max" if metric == "accuracy" else "min"),
        models=models,
        mark=mark_of(models),
        files={file: each.digests for file, each in code.items() if len(each.sources) > 1},
        trials=[Trial(number=number, choices=choices) for number, choices in enumerate(chosen, 1)],
    )


def _located(base: Mapping[str, Any], choices: dict[str, Any]) -> dict[str, Any]:
    whole = located(with_choices(base, choices))
    return {name: whole[name] if name in ("model", "data") else value for name, value in choices.items()}


def _check(base: Mapping[str, Any], chosen: Sequence[Mapping[str, Any]]) -> None:
    from engine.training.config import setting_problems

    for number, choices in enumerate(chosen, 1):
        for name, problem in setting_problems(with_choices(base, choices)).items():
            raise ValueError(f"trial {number} ({short_text(choices)}): {short_name(name)}: {problem}")
