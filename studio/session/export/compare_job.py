"""The job that compares two saved models; nothing of them is executed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar, Literal, TypedDict

from studio.session.export.model_differences import Section, sections_of
from studio.session.work.job import Emit, Inbox, job

MOST_ROWS = 1000


class ModelsCompared(TypedDict):
    """The sections that have differences, none for equal models, and how much was compared."""

    event: Literal["models_compared"]
    time: float
    sections: list[Section]
    operators: int
    weights: int


@job
class CompareModels:
    """Compare the saved models at ``a`` and ``b``, each a prefix or a file of any format."""

    TITLE: ClassVar = "Comparing {0}"
    EVENTS: ClassVar = (ModelsCompared,)

    a: str
    b: str

    @property
    def subject(self) -> str:
        return f"{Path(self.a).name}, {Path(self.b).name}"

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``models_compared``."""
        from engine.jit.saved.compare_models import compare_models

        found = compare_models(self.a, self.b)
        emit(
            {
                "event": "models_compared",
                "time": time.time(),
                "sections": [vars(section) for section in sections_of(found, MOST_ROWS)],
                "operators": found.operators_compared,
                "weights": found.weights_compared,
            }
        )
