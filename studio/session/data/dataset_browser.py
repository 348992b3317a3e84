"""DatasetBrowser: the child process of the page Data, started when it is needed, replaced if it crashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Literal

from studio.session.data.data_job import (
    BrowseData,
    ComparePreparation,
    OpenData,
    ShowSamples,
    ShowThumbnails,
    StopCheck,
    SuggestFor,
)
from studio.session.data.data_view import DataViewModel
from studio.session.train.run_settings import RunSettings, title_of
from studio.session.work.job import Event
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask

PAGE = 40
"""Samples of a page."""


class DatasetBrowser:
    """Opens data, asks for samples, and keeps the view model up to date. Nothing here waits.

    Args:
        tasks: starts the child.
    """

    def __init__(self, view: DataViewModel, tasks: RunningTasks) -> None:
        self._view, self._tasks = view, tasks
        self._task: JobTask | None = None
        self._ending: list[JobTask] = []
        self._asked: dict[str, Any] = {}
        self._number = self._expectation = 0

    def look(self, settings: RunSettings, again: bool = False) -> None:
        """Look at the data of these settings, unless that is what is looked at; ``again`` reads it anew."""
        asked = about_data(settings)
        if asked == self._asked and not again:
            return
        if self._view.state == "labelling" and asked["data"] == self._asked.get("data") and not again:
            self._asked = asked  # a setting changes nothing about the labels
            return
        self._open(settings, labelling=False)

    def label(self, settings: RunSettings) -> None:
        """Look at the images of a folder to label them."""
        self._open(settings, labelling=True)

    def finish_labelling(self, settings: RunSettings) -> None:
        """Look at the folder that was labelled as data."""
        self.look(settings, again=True)

    def _open(self, settings: RunSettings, labelling: bool) -> None:
        if self._task is not None and self._view.state == "opening":
            self._end()  # it is busy with data that is no longer wanted
        asked = self._asked = about_data(settings)
        self._number += 1
        self._view.begin(settings.data)
        if self._task is None:
            self._task = self._tasks.start(BrowseData(), self._follow, self._stop)
        self._task.begin("Reading {0}", title_of(settings.data))
        self._task.send(OpenData(asked, self._number, PAGE, labelling))

    def show_page(self, split: Literal["train", "test"], label: int, page: int) -> None:
        """Ask for another page of samples; label -1 for all classes."""
        if self._task is not None:
            self._task.send(ShowSamples(split, label, page, PAGE))

    def show_thumbnails(self, files: Sequence[str]) -> None:
        """Ask for these images of the folder that is labelled."""
        if self._task is not None:
            self._task.send(ShowThumbnails(tuple(files)))

    def compare(self, page: int) -> None:
        """Ask for other samples before and after the preparation."""
        if self._task is not None:
            self._task.send(ComparePreparation(page))

    def looks_at(self, settings: RunSettings) -> bool:
        """Whether the data of these settings is what is looked at."""
        return self._task is not None and about_data(settings) == self._asked

    def expect(self, settings: RunSettings) -> None:
        """Ask what would be suggested for a run with these settings, of the data that is looked at."""
        self._view.expected = None
        self._expectation += 1
        if self._task is not None and settings.network == "auto":
            self._task.send(SuggestFor(settings.as_config(""), self._expectation))

    def stop_check(self) -> None:
        """Look for no further problems; those found stay."""
        if self._task is not None:
            self._task.send(StopCheck())

    def cancel(self) -> None:
        """End whatever is being read."""
        if self._task is not None and self._view.state == "opening":
            self._end()
            self._asked = {}
            self._view.failed("data: reading it was cancelled; choose it again, or other data, to look at it")

    def take(self) -> None:
        """Take what the child left."""
        self._ending = [task for task in self._ending if not task.take()]
        if self._task is not None and self._task.take():
            self._task, self._asked = None, {}

    def _follow(self, event: Event) -> None:
        if event["event"] == "data_suggested" and event["request"] != self._expectation:
            return  # the settings have changed since
        if event.get("number") == self._number or event["event"] == "failed":
            self._view.take(event)
        elif event["event"] == "worker_ended" and not event["killed"]:
            message = event["message"] or "data: the process that reads it ended; choose the data again"
            self._view.failed(message)
        if self._task is not None:
            self._report(self._task)

    def _report(self, task: JobTask) -> None:
        view = self._view
        if view.state == "opening":
            task.report(view.message)
        elif view.checking:
            if not task.title.startswith("Checking"):
                task.begin("Checking {0}", task.subject)
            task.report("", view.done / view.total if view.total else None)
        else:
            task.rest()

    def _stop(self) -> None:
        if self._view.state == "opening":
            self.cancel()
        else:
            self.stop_check()

    def _end(self) -> None:
        if self._task is not None:
            self._task.forget()
            self._task.kill()
            self._ending.append(self._task)
            self._task = None

    def close(self) -> None:
        """End the process."""
        self._end()
        for task in self._ending:
            task.close()
        self._ending.clear()


def about_data(settings: RunSettings) -> dict[str, Any]:
    """Those of the settings that change what is shown."""
    from resources.settings import DATA_SETTINGS

    wanted = ("data", *DATA_SETTINGS)
    found = {each.name: getattr(settings, each.name) for each in fields(settings) if each.name in wanted}
    # Then it is prepared as is suggested, unless that is given.
    open_ones = [name for name in DATA_SETTINGS if settings.is_open(name)]
    return {**found, "open": open_ones} if open_ones else found
