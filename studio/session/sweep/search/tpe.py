"""Proposals by the tree-structured Parzen estimator of optuna (extra ``sweep``): imported for a search only.

Bergstra et al., Algorithms for Hyper-Parameter Optimization (2011). The study lives in memory for one
proposal: optuna writes no file and stores nothing.
"""

from __future__ import annotations

from typing import Any

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import TPESampler
from optuna.trial import TrialState, create_trial

from engine.core.errors import DataError
from studio.session.sweep.parameters import Parameter
from studio.session.sweep.plan import readable
from studio.session.sweep.search.rounds import Question

optuna.logging.set_verbosity(optuna.logging.CRITICAL)


def propose(question: Question) -> dict[str, Any]:
    """The choices of the next trial. Raises DataError for parameters that optuna refuses."""
    known = {parameter.name: parameter for parameter in question.parameters}
    try:
        spaces = {name: _space(parameter) for name, parameter in known.items()}
        sampler = TPESampler(seed=question.seed, n_startup_trials=question.random)
        study = optuna.create_study(sampler=sampler)
        for observed in question.observed:
            study.add_trial(
                create_trial(
                    params={name: _place(known[name], value) for name, value in observed.choices.items()},
                    distributions=spaces,
                    value=observed.score,
                    state=TrialState.FAIL if observed.score is None else TrialState.COMPLETE,
                )
            )
        found = study.ask(spaces).params
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise DataError(f"search: optuna proposes nothing: {error}; begin a new sweep") from error
    return {name: _value(parameter, found[name]) for name, parameter in known.items()}


def _space(parameter: Parameter) -> BaseDistribution:
    if parameter.values:
        return CategoricalDistribution(range(len(parameter.values)))
    if parameter.whole:
        return IntDistribution(round(parameter.low), round(parameter.high), log=parameter.log)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log)


def _place(parameter: Parameter, value: Any) -> Any:
    """A value as optuna knows it: that of a list by its index."""
    return parameter.values.index(value) if parameter.values else value


def _value(parameter: Parameter, found: Any) -> Any:
    return parameter.values[found] if parameter.values else readable(parameter, found)
