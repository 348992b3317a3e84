"""The job that trains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from resources.training_events import TRAINING_EVENTS, ProgramShown
from studio.session.work.job import Emit, Inbox, job

if TYPE_CHECKING:
    from resources.training_events import TrainingEvent
    from studio.session.project.session_script import SessionScript


@job
class Train:
    """Train with ``config``; ``resume`` continues from the newest valid checkpoint."""

    TITLE: ClassVar = "Training {0}"
    PAGE: ClassVar = "train"
    PROCESS: ClassVar = "training process"
    REMEDY: ClassVar = "resume from the last checkpoint"
    EVENTS: ClassVar = (*TRAINING_EVENTS, ProgramShown)
    OUTLIVES_ERRORS: ClassVar = True  # it takes hours, and saves what it has

    config: dict[str, Any]
    resume: bool = False
    agreed: str = ""

    @property
    def subject(self) -> str:
        return Path(self.run_folder).name

    @property
    def run_folder(self) -> str:
        return str(self.config.get("out", ""))

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report the events of the training, and the model's Program after its start."""
        from engine.training import TrainingConfig, TrainingRun
        from engine.training.network.describe import program_event

        config = TrainingConfig.from_dict(self.config)

        def listen(event: TrainingEvent) -> None:
            emit(event)
            if event["event"] == "started":
                emit(program_event(run.network, run.config))

        run = TrainingRun(config, [listen], resume=self.resume)
        inbox.attach(run.obey)
        run.run()

    def record(self, script: SessionScript) -> None:
        """Train again, with the same settings."""
        script.trained(self.config, self.resume)
