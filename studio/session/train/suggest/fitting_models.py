"""Which of the built-in networks fit the data of the next training, as far as that is known."""

from __future__ import annotations

from resources.families import FAMILIES
from resources.settings.data import STORED
from studio.session.data.data_view import DataViewModel
from studio.session.train.run_settings import RunSettings
from studio.session.train.suggest.suggestions import SuggestionView


def model_problems(settings: RunSettings, data: DataViewModel, suggestion: SuggestionView) -> dict[str, str]:
    """Why a network does not fit, by its name; empty while the data was not looked at.

    The page Data knows what the data is; without it, the last suggestion does.
    """
    if settings.kind == STORED:
        return {}
    found = {}
    if data.subject == settings.data and data.facts.spec:
        spec = data.facts.model_spec
        found = {name: family.problem(spec) for name, family in FAMILIES.items()}
    elif suggestion.data == settings.data:
        found = dict(suggestion.models)
    return {name: problem for name, problem in found.items() if problem}
