"""The jobs that trace a model: that of the settings, or that of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from resources.settings.model_inputs import ModelInputRow
from resources.training_events import ProgramShown
from studio.session.train.run_settings import title_of
from studio.session.work.job import TYPING_DELAY, Emit, Inbox, job


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
        from engine.training.network.describe import fitted_to_data, program_event
        from engine.training.setup import build_network
        from engine.training.suggesting.suggest import with_suggestions

        config = fitted_to_data(with_suggestions(TrainingConfig.from_dict(self.config)))
        network, _ = build_network(config)
        emit(program_event(network, config))


@job
class TraceRun:
    """Trace the model of the run in ``folder``, with its own source; ``shape`` is that of a sample, empty
    where it is not known. ``inputs`` are those of a model that takes several."""

    TITLE: ClassVar = "Tracing {0}"
    DELAY: ClassVar = TYPING_DELAY
    EVENTS: ClassVar = (ProgramShown,)

    folder: str
    config: dict[str, Any]
    shape: tuple[int, ...] = ()
    inputs: tuple[ModelInputRow, ...] = ()
    agreed: str = ""

    @property
    def subject(self) -> str:
        return Path(self.folder).name

    @property
    def run_folder(self) -> str:
        return self.folder

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``program``."""
        from engine.training import TrainingConfig
        from engine.training.folder.run_folder import RunFolder
        from engine.training.network.describe import program_event
        from engine.training.setup import build_network
        from engine.training.sources.several_inputs import Feed

        config = TrainingConfig.from_dict({**self.config, "out": self.folder})
        store = RunFolder(Path(self.folder))
        store.refuse_links()
        network, _ = build_network(config, store.source_path)
        feeds = [Feed(each.name, each.shape[1:], each.dtype, each.name) for each in self.inputs]
        emit(program_event(network, config, self.shape, feeds))
