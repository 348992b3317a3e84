"""Explaining: the explanations of the session, and those of the page Predict, which follow it."""

from __future__ import annotations

from collections.abc import Callable

from studio.session.explain.activations import Activations
from studio.session.explain.explanations import Explanations
from studio.session.explain.sample_explaining import SampleExplaining
from studio.session.graph.graph_view import GraphViewModel
from studio.session.predict.predict_view import PredictViewModel, score_names
from studio.session.work.running_tasks import RunningTasks


class Explaining:
    """``predict`` explains what the page Predict is fed, ``sample`` a sample of Mistakes or Data;
    ``activations`` are those on the page Graph.

    Args:
        view, graph: of the pages Predict and Graph.
        tasks, wake: as ``ExplainedModel``.
    """

    def __init__(
        self,
        view: PredictViewModel,
        graph: GraphViewModel,
        tasks: RunningTasks,
        wake: Callable[[], None],
    ) -> None:
        self.predict, self.sample = Explanations(tasks, wake), SampleExplaining(tasks, wake)
        self.activations = Activations(graph, view, tasks, wake)
        self._view = view
        view.events.model.connect(self._use)
        view.events.checkpoint.connect(self._use)
        view.events.fed.connect(self._feed)
        for name in ("ranking", "numbers"):
            getattr(view.events, name).connect(self._name_targets)

    def _use(self) -> None:
        view = self._view
        self.predict.use(view.model, view.checkpoint)
        self._feed()

    def _feed(self) -> None:
        view = self._view
        self.predict.feed(view.fed if view.complete and view.model is not None else ())

    def _name_targets(self) -> None:
        view = self._view
        if view.numbers:
            self.predict.name_targets([name for name, _, _ in view.numbers], classes=False)
        elif view.ranking and view.model is not None:
            self.predict.name_targets(score_names(view.model.classes, len(view.ranking)), classes=True)

    def take(self) -> None:
        """Update the view models with the replies of the processes."""
        for each in (self.predict, self.sample, self.activations):
            each.take()

    def forget(self) -> None:
        """Another project is open."""
        self.sample.forget()
        self.activations.forget()

    def close(self) -> None:
        """End the processes."""
        for each in (self.predict, self.sample, self.activations):
            each.close()
