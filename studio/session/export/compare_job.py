"""The job that compares two saved models, or two Programs of one; nothing of them is executed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypedDict

from studio.session.export.model_differences import Section, program_sections, sections_of
from studio.session.export.program_pair import ProgramPair, pair_of
from studio.session.work.job import Emit, Inbox, job

if TYPE_CHECKING:
    from studio.session.export.compared_programs import ComparedPrograms

MOST_ROWS = 1000
MODELS, TRAINING, PASSES = "models", "training", "passes"


class ComparedStep(TypedDict):
    """Two Programs that differ: the sections with differences, and both; ``pair`` is None for Programs that
    could not be built."""

    sections: list[Section]
    pair: ProgramPair | None


class ModelsCompared(TypedDict):
    """The steps that have differences, none for equal models, and how much was compared. A comparison of
    passes has a step for each pass that changed something, the others have one."""

    event: Literal["models_compared"]
    time: float
    steps: list[ComparedStep]
    operators: int
    weights: int


@job
class CompareModels:
    """Compare the saved models at ``a`` and ``b``, each a prefix, a file of any format, or a run.

    With ``how`` TRAINING the Program of ``a`` as it trains and as it predicts, with PASSES before and after
    each pass of ``level``.
    """

    TITLE: ClassVar = "Comparing {0}"
    EVENTS: ClassVar = (ModelsCompared,)

    a: str
    b: str
    how: str = MODELS
    level: int = 1

    @property
    def subject(self) -> str:
        names = (self.a, self.b) if self.how == MODELS else (self.a,)
        return ", ".join(Path(name).name for name in names)

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``models_compared``."""
        steps, operators, weights = self._compared() if self.how == MODELS else self._of_one()
        emit(
            {
                "event": "models_compared",
                "time": time.time(),
                "steps": steps,
                "operators": operators,
                "weights": weights,
            }
        )

    def _compared(self) -> tuple[list[Any], int, int]:
        from studio.session.export.compared_programs import compared_pair, state_file

        if state_file(self.a) or state_file(self.b):
            found = compared_pair(self.a, self.b)
            return _steps([found]), found.operators, 0
        from engine.jit.saved.compare_models import compare_models
        from studio.session.export.compared_programs import model_path, saved_pair

        a, b = model_path(self.a), model_path(self.b)
        compared = compare_models(a, b)
        sections = sections_of(compared, MOST_ROWS)
        counts = compared.operators_compared, compared.weights_compared
        if not sections:
            return [], *counts
        return [_step(sections, saved_pair(a, b))], *counts

    def _of_one(self) -> tuple[list[Any], int, int]:
        from studio.session.export.compared_programs import each_pass, training_and_inference

        if self.how == PASSES:
            found = each_pass(self.a, self.level)
        else:
            found = [training_and_inference(self.a)]
        return _steps(found), max((each.operators for each in found), default=0), 0


def _steps(found: list[ComparedPrograms]) -> list[dict[str, Any]]:
    return [
        _step(program_sections(each.structure, each.operators, MOST_ROWS), each)
        for each in found
        if not each.structure.equal
    ]


def _step(sections: list[Section], compared: ComparedPrograms | None) -> dict[str, Any]:
    return {
        "sections": [vars(section) for section in sections],
        "pair": None if compared is None else vars(pair_of(compared)),
    }
