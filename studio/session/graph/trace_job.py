"""The jobs that trace a model: that of the settings, or that of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from resources.regular_files import read_regular_text
from resources.settings.model_inputs import ModelInputRow
from resources.training_events import ProgramShown
from studio.session.train.run_settings import title_of
from studio.session.work.job import TYPING_DELAY, Emit, Inbox, job

if TYPE_CHECKING:
    from engine.training import TrainingConfig


@job
class TraceModel:
    """Trace the model of ``config`` without training it; with ``step`` a whole step of its training."""

    TITLE: ClassVar = "Tracing {0}"
    PAGE: ClassVar = "graph"
    EVENTS: ClassVar = (ProgramShown,)

    config: dict[str, Any]
    step: bool = False
    agreed: str = ""

    @property
    def subject(self) -> str:
        return title_of(self.config["model"])

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``program``."""
        if self.step:
            emit(_step_event(self.config, ""))
            return
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
    where it is not known. ``inputs`` are those of a model that takes several. With ``step`` a whole step of
    the run's training is traced."""

    TITLE: ClassVar = "Tracing {0}"
    DELAY: ClassVar = TYPING_DELAY
    EVENTS: ClassVar = (ProgramShown,)

    folder: str
    config: dict[str, Any]
    shape: tuple[int, ...] = ()
    inputs: tuple[ModelInputRow, ...] = ()
    step: bool = False
    agreed: str = ""

    @property
    def subject(self) -> str:
        return Path(self.folder).name

    @property
    def run_folder(self) -> str:
        return self.folder

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``program``."""
        if self.step:
            emit(_step_event(self.config, self.folder))
            return
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


def _step_event(config: dict[str, Any], folder: str) -> ProgramShown:
    from engine.profiler.training import parts_of
    from engine.training.network.training_step import step_event

    settings, source = settings_of(config, folder)
    settings = settings.changed(static=True, workers=1)
    return step_event(parts_of(settings, source, ()).stepper, settings)


def settings_of(config: dict[str, Any], folder: str) -> tuple[TrainingConfig, Path | None]:
    """The settings of a training, and where the code of the run in ``folder`` is; for a child process."""
    from engine.training import TrainingConfig
    from engine.training.folder.run_folder import RunFolder
    from engine.training.suggesting.suggest import with_suggestions

    if not folder:
        return with_suggestions(TrainingConfig.from_dict(config)), None
    store = RunFolder(Path(folder))
    store.refuse_links()
    return TrainingConfig.from_dict({**config, "out": ""}), store.source_path


def text_of(config: TrainingConfig, source: Path | None) -> str:
    """The text of the file that defines the model of ``config``; empty where it has none."""
    from engine.training.setup import model_source

    return read_regular_text(str(model_source(config, source).file))
