"""The job behind the page Data: opens data in a child process, and answers what the page asks of it."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from studio.session.data.data_events import DATA_EVENTS
from studio.session.data.thumbnails import ThumbnailReader, images_to_label, needs_labels
from studio.session.work.job import Emit, Event, Inbox, Request, job

PERIOD = 0.1  # seconds between two reports of a check


@dataclass(frozen=True)
class OpenData(Request):
    """Open the data of these settings; ``number`` comes back with every answer about it.

    ``count`` is how many samples the first page has. With ``labelling``, its images are labelled, whether
    they have labels or not.
    """

    config: dict[str, Any]
    number: int
    count: int
    labelling: bool = False


@dataclass(frozen=True)
class ShowSamples(Request):
    """Another page of samples; ``label`` is their class, -1 for all."""

    split: Literal["train", "test"]
    label: int
    page: int
    count: int


@dataclass(frozen=True)
class ShowThumbnails(Request):
    """The images with these names, of the folder that is labelled, instead of those not shown yet."""

    files: tuple[str, ...]


@dataclass(frozen=True)
class ComparePreparation(Request):
    """Other samples before and after the preparation."""

    page: int


@dataclass(frozen=True)
class SuggestFor(Request):
    """What would be suggested for a run with ``config``, of this data; ``request`` comes back."""

    config: dict[str, Any]
    request: int


@dataclass(frozen=True)
class StopCheck(Request):
    """Check no further samples."""


@job
class BrowseData:
    """Open data and answer requests about it (``OpenData`` first), until it is cancelled."""

    PROCESS: ClassVar = "data"
    PAGE: ClassVar = "data"
    REMEDY: ClassVar = "choose the data again"
    EVENTS: ClassVar = DATA_EVENTS

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Answer requests; between them check a few samples for problems at a time."""
        requests: queue.SimpleQueue[str | Request] = queue.SimpleQueue()
        kinds = (OpenData, ShowSamples, ShowThumbnails, ComparePreparation, SuggestFor, StopCheck)
        inbox.attach(requests.put, *kinds)
        reader = _DataReader(emit)
        while True:
            try:
                request = requests.get(block=not reader.working)
            except queue.Empty:
                reader.work_on()
                continue
            if isinstance(request, Request):
                reader.answer(request)
            elif request in ("cancel", "interrupt"):
                return


class _DataReader:
    """The data that is open, and the check of it that is under way."""

    def __init__(self, emit: Emit) -> None:
        self._send_raw = emit
        self._survey: Any = None
        self._check: Iterator[Any] | None = None
        self._thumbnails: ThumbnailReader | None = None
        self._number = self._count = 0
        self._reported_at = 0.0

    @property
    def working(self) -> bool:
        """Whether there is something to do between requests."""
        return self._check is not None or (self._thumbnails is not None and bool(self._thumbnails.waiting))

    def _tell(self, event: str, **values: Any) -> None:
        message: Event = {"event": event, "time": time.time(), "number": self._number, **values}
        self._send_raw(message)

    def answer(self, request: Request) -> None:
        """Carry out one request; errors of the data are reported, and never end the process."""
        from engine.training.sources.images.labels import UnlabelledImages
        from engine.training.sources.tables.columns import TargetNeeded

        try:
            if isinstance(request, OpenData):
                self._open(request)
            elif isinstance(request, ShowSamples):
                self._show(request)
            elif isinstance(request, ShowThumbnails):
                if self._thumbnails is not None:
                    self._thumbnails.ask(request.files)
            elif isinstance(request, ComparePreparation):
                self._compare(request.page)
            elif isinstance(request, SuggestFor):
                self._suggest(request)
            elif isinstance(request, StopCheck):
                self._stop()
        except UnlabelledImages:
            assert isinstance(request, OpenData)
            self._label(request.config["data"])
        except TargetNeeded as error:
            self._tell(
                "data_needs_target", message=str(error), columns=[asdict(each) for each in error.columns]
            )
        except (ValueError, OSError, MemoryError) as error:
            self._tell("data_failed", message=str(error) or type(error).__name__)

    def _open(self, request: OpenData) -> None:
        from engine.training.data import fetch_data
        from engine.training.sources.options import DataOptions
        from engine.training.sources.survey import Survey

        self._number, self._survey, self._check, self._thumbnails = request.number, None, None, None
        config = request.config
        if request.labelling or needs_labels(config["data"], config["exclude"]):
            self._label(config["data"])
            return
        fetch_data(config["data"], lambda text: self._tell("data_waiting", message=text))
        self._count = request.count
        self._begin(Survey(config["data"], DataOptions.of(config)))

    def _begin(self, survey: Any) -> None:
        """Tell what the data is with the options of ``survey``, and check it."""
        self._survey = survey
        self._tell("data_opened", **survey.facts())
        self._show(ShowSamples("train", -1, 0, self._count))
        self._compare(0)
        self._check = survey.check()

    def _label(self, name: str) -> None:
        try:
            folder, values = images_to_label(name)
        except (ValueError, OSError) as error:
            self._tell("data_failed", message=str(error))
            return
        self._thumbnails = ThumbnailReader(folder, values["files"])
        self._tell("data_labelling", **values)

    def _show(self, wanted: ShowSamples) -> None:
        if self._survey is not None:
            found = self._survey.samples(wanted.split, wanted.label, wanted.page, wanted.count)
            self._tell("data_samples", **found)

    def _compare(self, page: int) -> None:
        if self._survey is not None:
            self._tell("data_compared", **self._survey.compared(page))

    def _suggest(self, wanted: SuggestFor) -> None:
        from engine.core.errors import EngineError
        from engine.training import TrainingConfig
        from engine.training.sources.options import DataOptions
        from engine.training.sources.survey import Survey
        from engine.training.suggesting.suggest import suggested

        if self._survey is None or self._survey.source.name != wanted.config["data"]:
            return
        choices: list[dict[str, Any]] = []
        models: dict[str, str] = {}
        with suppress(EngineError):  # a training with these settings says what is wrong
            found = suggested(TrainingConfig.from_dict(wanted.config), None, self._survey.source)
            choices, models = [vars(each) for each in found.choices], dict(found.problems)
            options = DataOptions.of(found.config)
            if options != self._survey.options:  # the run will prepare the data in this way
                self._begin(Survey(found.config.data, options))
        self._tell("data_suggested", request=wanted.request, choices=choices, models=models)

    def _stop(self) -> None:
        if self._check is not None:
            self._check = None
            self._tell("data_check_stopped")

    def work_on(self) -> None:
        """Look at a few more samples, or images to label."""
        if self._thumbnails is not None:
            files, values = self._thumbnails.read()
            self._tell("data_thumbnails", files=files, values=values)
            return
        assert self._check is not None
        try:
            done, total, problems = next(self._check)
        except StopIteration:
            self._check = None
            self._tell("data_check_done")
        except (ValueError, OSError, MemoryError) as error:
            self._check = None
            self._tell("data_failed", message=str(error))
        else:
            moment = time.monotonic()
            if done == total or moment - self._reported_at > PERIOD:
                self._reported_at = moment
                self._tell("data_checked", done=done, total=total, problems=problems)
