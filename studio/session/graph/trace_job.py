"""The job that traces a model."""

from __future__ import annotations

from typing import Any, ClassVar

from resources.training_events import ProgramShown
from studio.session.train.run_settings import title_of
from studio.session.work.job import Emit, Inbox, job


@job
class TraceModel:
    """Trace the model of ``config`` without training it."""

    TITLE: ClassVar = "Tracing {0}"
    PAGE: ClassVar = "graph"
    EVENTS: ClassVar = (ProgramShown,)

    config: dict[str, Any]
    agreed: str = ""

    @property
    def subject(self) -> str:
        return title_of(self.config["model"])

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``program``."""
        from engine.training import TrainingConfig
        from engine.training.describe import program_event
        from engine.training.resolve import fitted_to_data
        from engine.training.setup import build_network
        from engine.training.suggest import with_suggestions

        config = fitted_to_data(with_suggestions(TrainingConfig.from_dict(self.config)))
        network, _ = build_network(config)
        emit(program_event(network, config))
