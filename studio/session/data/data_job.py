"""The job behind the page Data: opens data in a child process, and answers what the page asks of it."""

from __future__ import annotations

import json
import queue
import time
from collections.abc import Iterator
from typing import Any

from studio.session.work.job import Emit, Event, Inbox, job

PERIOD = 0.1  # seconds between two reports of a check


def open_request(config: dict[str, Any], number: int, count: int) -> str:
    """Open the data of these settings; ``number`` comes back with every answer about it.

    Args:
        count: samples of the first page.
    """
    return json.dumps({"do": "open", "config": config, "number": number, "count": count})


def page_request(split: str, label: int, page: int, count: int) -> str:
    """Another page of samples."""
    return json.dumps({"do": "page", "split": split, "label": label, "page": page, "count": count})


def compare_request(page: int) -> str:
    """Other samples before and after the preparation."""
    return json.dumps({"do": "compare", "page": page})


STOP_CHECK = json.dumps({"do": "stop"})


@job
class BrowseData:
    """Open data and answer requests about it (``open_request`` first), until it is cancelled."""

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Answer requests; between them check a few samples for problems at a time."""
        requests: queue.SimpleQueue[str] = queue.SimpleQueue()
        inbox.attach(requests.put)
        looker = _DataReader(emit)
        while True:
            try:
                text = requests.get(block=not looker.checking)
            except queue.Empty:
                looker.check_on()
                continue
            if not text.startswith("{"):
                if text in ("cancel", "interrupt"):
                    return
                continue
            looker.answer(json.loads(text))


class _DataReader:
    """The data that is open, and the check of it that is under way."""

    def __init__(self, emit: Emit) -> None:
        self._send_raw = emit
        self._survey: Any = None
        self._check: Iterator[Any] | None = None
        self._number = 0
        self._reported_at = 0.0

    @property
    def checking(self) -> bool:
        return self._check is not None

    def _tell(self, event: str, **values: Any) -> None:
        message: Event = {"event": event, "time": time.time(), "number": self._number, **values}
        self._send_raw(message)

    def answer(self, request: dict[str, Any]) -> None:
        """Carry out one request; errors of the data are reported, and never end the process."""
        try:
            getattr(self, f"_{request['do']}")(request)
        except (ValueError, OSError, MemoryError) as error:
            self._tell("data_failed", message=str(error) or type(error).__name__)

    def _open(self, request: dict[str, Any]) -> None:
        from engine.training.data import fetch_data
        from engine.training.sources.options import DataOptions
        from engine.training.sources.survey import Survey

        self._number, self._survey, self._check = request["number"], None, None
        config = request["config"]
        fetch_data(config["data"], lambda text: self._tell("data_waiting", message=text))
        survey = Survey(config["data"], DataOptions.of(config))
        self._survey = survey
        self._tell("data_opened", **survey.facts())
        self._page({"split": "train", "label": -1, "page": 0, "count": request["count"]})
        self._compare({"page": 0})
        self._check = survey.check()

    def _page(self, request: dict[str, Any]) -> None:
        if self._survey is not None:
            wanted = (request["split"], request["label"], request["page"], request["count"])
            self._tell("data_samples", **self._survey.samples(*wanted))

    def _compare(self, request: dict[str, Any]) -> None:
        if self._survey is not None:
            self._tell("data_compared", **self._survey.compared(request["page"]))

    def _stop(self, request: dict[str, Any]) -> None:
        if self._check is not None:
            self._check = None
            self._tell("data_check_stopped")

    def check_on(self) -> None:
        """Look at a few more samples."""
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
