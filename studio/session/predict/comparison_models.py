"""ComparisonModels: models that are asked the same as the one that is loaded, and what each of them says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from resources.quantities import value
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_client import (
    ModelClient,
    ModelLoaded,
    ModelReply,
    PredictionReply,
    RequestFailed,
    Values,
)
from studio.session.predict.model_info import ModelInfo
from studio.session.predict.model_input import ModelInput, inputs_of
from studio.session.predict.predict_view import ComparisonLine, PredictViewModel, rank
from studio.session.problem_view import problem_from_message
from studio.session.work.running_tasks import RunningTasks

MOST = 6


class ComparisonModels:
    """The models, each in a separate process, and ``view.comparisons``, a line for each in their order.

    A model whose inputs are others than those of the loaded one says so instead of an answer.

    Args:
        tell: given to each model; its replies come back through ``take``.
        let_go: ends a model.
        tasks: lists the loading of each.
    """

    def __init__(
        self,
        view: PredictViewModel,
        tell: Callable[[ModelClient, ModelReply], None],
        let_go: Callable[[ModelClient], None],
        tasks: RunningTasks,
    ) -> None:
        self._view, self._tell, self._let_go, self._tasks = view, tell, let_go, tasks
        self._models: dict[ModelChoice, ModelClient] = {}
        self._infos: dict[ModelChoice, ModelInfo] = {}
        self._newest: Values | None = None

    def use(self, choices: Sequence[ModelChoice]) -> None:
        """Have these models, at most ``MOST`` of them; those that are there already stay."""
        wanted = list(dict.fromkeys(choices))[:MOST]
        for gone in [choice for choice in self._models if choice not in wanted]:
            self._let_go(self._models.pop(gone))
            self._infos.pop(gone, None)
        before = {line.choice: line for line in self._view.comparisons}
        lines = []
        for choice in wanted:
            line = before.get(choice, ComparisonLine(choice, words="Loading…"))
            if choice not in self._models:
                line = self._begin(choice, line)
            lines.append(line)
        self._view.comparisons = tuple(lines)

    def _begin(self, choice: ModelChoice, line: ComparisonLine) -> ComparisonLine:
        """Start a model; its line says why where it can't be."""
        # Here, where it is needed: closing a window that asked nothing must not import the engine.
        from engine.core.errors import EngineError
        from engine.core.models.limits import current

        try:
            self._models[choice] = ModelClient(choice, current(), self._tell, self._tasks)
        except EngineError as error:
            return ComparisonLine(choice, words=str(error))
        return line

    def ask(self, values: Values) -> None:
        """Ask all that can be fed these values."""
        self._newest = values
        for choice, model in self._models.items():
            info = self._infos.get(choice)
            if info is None:
                continue
            if alike(inputs_of(info), self._view.inputs):
                model.ask(values)
            else:
                self._show(choice, words="It takes other inputs than the model that is loaded.")

    def clear(self) -> None:
        """There is nothing to answer."""
        self._newest = None
        self._view.comparisons = tuple(
            replace(line, ranking=()) if line.ranking else line for line in self._view.comparisons
        )

    def take(self, model: ModelClient, reply: ModelReply) -> None:
        """Take a reply of a model, if it is one of these."""
        choice = model.choice
        if self._models.get(choice) is not model:
            return
        if isinstance(reply, ModelLoaded):
            self._infos[choice] = reply.info
            self._show(choice, words="")
            if self._newest is not None:
                self.ask(self._newest)
        elif isinstance(reply, PredictionReply) and self._newest is not None:
            info = self._infos[choice]
            one = len(reply.scores) == 1 or info.predicts_numbers
            ranking = () if one else tuple(rank(reply.scores, info.classes))
            words = ", ".join(map(value, reply.scores[:MOST].tolist())) if one else ""
            self._show(choice, ranking, reply.seconds, words)
        elif isinstance(reply, RequestFailed):
            self._show(choice, words=problem_from_message(reply.message, "").message)

    def _show(
        self,
        choice: ModelChoice,
        ranking: tuple[tuple[str, float], ...] = (),
        seconds: float = float("nan"),
        words: str = "",
    ) -> None:
        self._view.comparisons = tuple(
            ComparisonLine(choice, ranking, seconds, words) if line.choice == choice else line
            for line in self._view.comparisons
        )


def alike(one: Sequence[ModelInput], other: Sequence[ModelInput]) -> bool:
    """Whether values for the inputs of one model can be fed to those of another."""

    def kind(each: ModelInput) -> tuple[object, ...]:
        if each.form in ("digit", "picture"):
            return each.form, each.channels, each.height, each.width
        columns = each.raw.inputs if each.raw is not None else ()
        return each.form, each.shape, each.whole, [(column.name, column.words) for column in columns]

    return [*map(kind, one)] == [*map(kind, other)]
