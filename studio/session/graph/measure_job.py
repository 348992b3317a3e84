"""The job that measures a step of a training for the page Graph."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, ClassVar, Literal, TypedDict

from studio.session.train.run_settings import title_of
from studio.session.work.job import Emit, Inbox, job

STEPS = 5


class StepMeasured(TypedDict):
    """What each operator of a step costs: ``costs`` as :meth:`engine.profiler.costs.Cost.plain` gives them.

    ``look`` is the event ``layers`` of a further step, ``source`` the digest of the model's text.
    """

    event: Literal["step_measured"]
    time: float
    seconds: float
    unrecorded: float
    batch_size: int
    static: bool
    device: str
    threads: int
    peak: float
    source: str
    costs: list[dict[str, Any]]
    look: dict[str, Any]


@job
class MeasureStep:
    """Train the model of ``config``, or that of the run in ``folder``, for a few steps and measure them.
    Nothing of the run changes."""

    TITLE: ClassVar = "Measuring {0}"
    PAGE: ClassVar = "graph"
    EVENTS: ClassVar = (StepMeasured,)

    config: dict[str, Any]
    folder: str = ""
    agreed: str = ""

    @property
    def subject(self) -> str:
        return Path(self.folder).name if self.folder else title_of(self.config["model"])

    @property
    def run_folder(self) -> str:
        return self.folder

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``step_measured``."""
        from engine.profiler.training import profile
        from studio.session.graph.measured_step import digest_of
        from studio.session.graph.trace_job import settings_of, text_of

        config, source = settings_of(self.config, self.folder)
        found = profile(config, STEPS, source, look=True)
        reading = found.layers
        emit(
            StepMeasured(
                event="step_measured",
                time=time.time(),
                seconds=found.seconds / found.steps,
                unrecorded=found.unrecorded,
                batch_size=config.batch_size,
                static=config.static,
                device=found.device,
                threads=found.threads,
                peak=found.peak,
                source=digest_of(text_of(config, source)),
                costs=[cost.plain() for cost in found.costs],
                look={"step": 0, "epoch": 0, "parameters": reading.parameters, "units": reading.units}
                if reading is not None
                else {},
            )
        )
