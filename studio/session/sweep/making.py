"""A new sweep from a request: the settings of every known trial are checked before anything starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from studio.session.sweep.document import Halving, Search, State, Sweep, Trial
from studio.session.sweep.models import code_of, located, mark_of, model_file
from studio.session.sweep.parameters import (
    Parameter,
    parse_parameter,
    short_name,
    short_text,
)
from studio.session.sweep.plan import MOST_TRIALS, combinations, drawn, grid
from studio.session.sweep.search.kinds import proposer, require_installed
from studio.session.sweep.search.rounds import Propose, extend, invalid
from studio.session.train.run_settings import RunSettings

Metric = Literal["accuracy", "loss"]
Goal = Literal["max", "min"]
Kind = Literal["grid", "random", "bayes"]


def new_sweep(
    settings: Mapping[str, Any],
    words: Sequence[str],
    *,
    trials: int = 0,
    halving: Halving | None = None,
    metric: Metric = "accuracy",
    goal: Goal | None = None,
    search: Kind | None = None,
    jobs: int = 1,
    first_round: bool = True,
    propose: Propose | None = None,
) -> Sweep:
    """The sweep of these parameters over settings that stay.

    Args:
        words: ``NAME=VALUES`` each.
        trials: how many combinations to draw at random, or to search, with the seed of the settings; 0 takes
            all.
        goal: that of the metric where it is None.
        search: ``grid`` takes all, ``random`` draws, ``bayes`` chooses trials by the results of earlier ones;
            None for a grid, or random draws where there are ``trials``.
        jobs: trials that a search proposes at once.
        first_round: whether a search proposes its first trials now; else who trains it lets it.
        propose: what proposes the trials of a search; None for that of ``search``.

    Raises:
        ValueError: a parameter, a value, or combinations of which no training takes any; names it.
        DataError: the file of a model does not exist, or what the search needs is not installed.
    """
    if not words:
        raise ValueError("nothing to vary: got no --param; give e.g. --param lr=0.1,0.01")
    if not 0 <= trials <= MOST_TRIALS:
        raise ValueError(f"--trials must be from 0 to {MOST_TRIALS}: got {trials}; 0 takes every combination")
    _check_search(search, trials, halving)
    parameters = [parse_parameter(word, settings, words) for word in words]
    for place, parameter in enumerate(parameters):
        if any(parameter.name == other.name for other in parameters[:place]):
            raise ValueError(
                f"{short_name(parameter.name)} is given twice: give all its values in one --param"
            )
    if halving is not None and any(parameter.name == "epochs" for parameter in parameters):
        raise ValueError("epochs: a halving decides how many epochs a trial gets; give them with --epochs")
    base = located(settings)
    if base["model"] == "auto":  # a suggestion leaves each value of a trial as it is
        varied = (parameter.name.partition(".")[0] for parameter in parameters)
        base["given"] = tuple(dict.fromkeys((*base.get("given", ()), *varied)))
    parameters = [_located(base, parameter) for parameter in parameters]
    varied_models = [each.values for each in parameters if each.name == "model"]
    names = varied_models[0] if varied_models else [base["model"]]
    files = {model_file({"model": name}) for name in names} - {""}
    code = {file: code_of(file) for file in sorted(files)}
    models = {file: each.digest for file, each in code.items()}
    sweep = Sweep(
        settings=RunSettings(**base),
        parameters=parameters,
        halving=halving,
        metric=metric,
        goal=goal or ("max" if metric == "accuracy" else "min"),
        models=models,
        mark=mark_of(models),
        files={file: each.digests for file, each in code.items() if len(each.sources) > 1},
    )
    if search == "bayes":
        planned = min(trials, combinations(parameters) or trials)
        sweep.search = Search(trials=planned, round=min(jobs, planned))
        if first_round:
            extend(sweep, propose or proposer(sweep.search), sweep.search.round)
        else:
            require_installed(sweep.search)
    else:
        seed = int(base["seed"])
        sweep.trials = _trials(base, drawn(parameters, trials, seed) if trials else grid(parameters))
    return sweep


def _check_search(search: Kind | None, trials: int, halving: Halving | None) -> None:
    if search == "grid" and trials:
        raise ValueError(f"--search grid takes every combination: got --trials {trials}; omit --trials")
    if search in ("random", "bayes") and not trials:
        raise ValueError(f"--search {search} needs the number of trials: got none; give e.g. --trials 24")
    if search == "bayes" and halving is not None:
        raise ValueError(
            "--halving compares trials that are all known at the start, and --search bayes chooses later "
            "ones by the results of earlier ones; give one of the two"
        )


def _located(base: Mapping[str, Any], parameter: Parameter) -> Parameter:
    """The parameter with the whole paths of own models and data."""
    name = parameter.name
    if name not in ("model", "data"):
        return parameter
    return parameter.model_copy(
        update={"values": [located({**base, name: value})[name] for value in parameter.values]}
    )


def _trials(base: Mapping[str, Any], chosen: Sequence[dict[str, Any]]) -> list[Trial]:
    """The trials; those that no training takes are invalid. Raises ValueError where all are."""
    trials = []
    for number, choices in enumerate(chosen, 1):
        problem = invalid(base, choices)
        state: State = "invalid" if problem else "waiting"
        trials.append(Trial(number=number, choices=choices, state=state, message=problem))
    if all(trial.state == "invalid" for trial in trials):
        first = trials[0]
        raise ValueError(f"trial {first.number} ({short_text(first.choices)}): {first.message}")
    return trials
