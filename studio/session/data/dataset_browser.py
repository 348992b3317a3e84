"""DatasetBrowser: the child process behind the page Data; started when data is first looked at, replaced if
it
dies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Literal

from studio.session.data.data_job import BrowseData, ComparePreparation, OpenData, ShowSamples, StopCheck
from studio.session.data.data_view import DataViewModel
from studio.session.train.run_settings import RunSettings
from studio.session.work.worker import Worker

PAGE = 40
"""Samples of a page."""


class DatasetBrowser:
    """Opens data, asks for samples, and keeps the view model up to date. Nothing here waits.

    Args:
        make_worker: gives a worker that has no job yet.
    """

    def __init__(self, view: DataViewModel, make_worker: Callable[[], Worker]) -> None:
        self._view, self._make_worker = view, make_worker
        self._worker: Worker | None = None
        self._ending: list[Worker] = []
        self._asked: dict[str, Any] = {}
        self._number = 0

    def look(self, settings: RunSettings, again: bool = False) -> None:
        """Look at the data of these settings, unless that is what is looked at; ``again`` reads it anew."""
        asked = about_data(settings)
        if asked == self._asked and not again:
            return
        if self._worker is not None and self._view.state == "opening":
            self._end()  # it is busy with data that is no longer wanted
        self._asked = asked
        self._number += 1
        self._view.begin()
        if self._worker is None:
            self._worker = self._make_worker()
            self._worker.start(BrowseData())
        self._worker.send(OpenData(asked, self._number, PAGE))

    def show_page(self, split: Literal["train", "test"], label: int, page: int) -> None:
        """Ask for another page of samples; label -1 for all classes."""
        if self._worker is not None:
            self._worker.send(ShowSamples(split, label, page, PAGE))

    def compare(self, page: int) -> None:
        """Ask for other samples before and after the preparation."""
        if self._worker is not None:
            self._worker.send(ComparePreparation(page))

    def stop_check(self) -> None:
        """Look for no further problems; those found stay."""
        if self._worker is not None:
            self._worker.send(StopCheck())

    def cancel(self) -> None:
        """End whatever is being read."""
        if self._worker is not None and self._view.state == "opening":
            self._end()
            self._asked = {}
            self._view.failed("data: reading it was cancelled; choose it again, or other data, to look at it")

    def take(self) -> None:
        """Take what the worker left."""
        for worker in list(self._ending):
            worker.take()
            if worker.ended():
                worker.close()
                self._ending.remove(worker)
        worker_now = self._worker
        if worker_now is None:
            return
        ended = worker_now.ended()
        for event in worker_now.take():
            if event.get("number") == self._number or event["event"] == "failed":
                self._view.take(event)
            elif event["event"] == "worker_ended" and not event["killed"]:
                message = event["message"] or "data: the process that reads it ended; choose the data again"
                self._view.failed(message.replace("training process", "data"))
        if ended:
            worker_now.close()
            self._worker, self._asked = None, {}

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._ending.append(self._worker)
            self._worker = None

    def close(self) -> None:
        """End the process."""
        self._end()
        for worker in self._ending:
            worker.close()
        self._ending.clear()


def about_data(settings: RunSettings) -> dict[str, Any]:
    """Those of the settings that change what is shown."""
    from resources.settings import DATA_SETTINGS

    wanted = ("data", *DATA_SETTINGS)
    return {each.name: getattr(settings, each.name) for each in fields(settings) if each.name in wanted}
