"""The events of the job behind the page Data; ``number`` is that of the request that opened the data."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

import numpy as np

from studio.session.train.suggest.suggest_job import ChoiceMade


class Numbered(TypedDict):
    """Fields of every event, besides ``event`` (its kind)."""

    time: float
    number: int


class DataWaiting(Numbered):
    """Before ``data_opened``, while the data is downloaded."""

    event: Literal["data_waiting"]
    message: str


class DataOpened(Numbered):
    """What ``Survey.facts`` gives."""

    event: Literal["data_opened"]
    name: str
    kind: str
    is_image: bool
    raw: list[int]
    fed: list[int]
    classes: list[str]
    columns: list[str]
    train: int
    test: int
    own_split: bool
    unlabelled: int
    label_file: NotRequired[str]
    train_balance: list[int]
    test_balance: list[int]
    spec: NotRequired[dict[str, Any]]
    targets: NotRequired[list[dict[str, Any]]]


class DataNeedsTarget(Numbered):
    """The target of a table is not known; ``columns`` are all of them, to choose from."""

    event: Literal["data_needs_target"]
    message: str
    columns: list[dict[str, Any]]


class DataLabelling(Numbered):
    """The images of a folder, to be labelled: each with its label, empty for none; ``place`` is the file of
    labels where it is not in the folder."""

    event: Literal["data_labelling"]
    folder: str
    files: list[str]
    labels: list[str]
    classes: list[str]
    place: str


class DataThumbnails(Numbered):
    """Some of these images; None for one that can't be read."""

    event: Literal["data_thumbnails"]
    files: list[str]
    values: list[np.ndarray | None]


class DataSamples(Numbered):
    """A page of samples, as ``Survey.samples`` gives it."""

    event: Literal["data_samples"]
    split: str
    label: int
    page: int
    of: int
    labels: list[int]
    broken: list[bool]
    places: list[str]
    numbers: NotRequired[list[int]]
    values: list[np.ndarray]
    targets: NotRequired[list[list[float]]]


class DataCompared(Numbered):
    """Samples before and after the preparation, as ``Survey.compared`` gives them."""

    event: Literal["data_compared"]
    before: list[np.ndarray]
    after: list[np.ndarray]
    ranges: list[list[float]]


class FoundProblem(TypedDict):
    """A problem of the data, as ``Found.as_plain`` gives it."""

    kind: str
    count: int
    places: list[str]


class DataChecked(Numbered):
    """The check for problems has looked at ``done`` of ``total`` samples."""

    event: Literal["data_checked"]
    done: int
    total: int
    problems: list[FoundProblem]


class DataCheckEnded(Numbered):
    """The check is complete, or was stopped."""

    event: Literal["data_check_done", "data_check_stopped"]


class DataSuggested(Numbered):
    """The settings that a run with those of request ``request`` would take, each with its reason; empty where
    none can be suggested."""

    event: Literal["data_suggested"]
    request: int
    choices: list[ChoiceMade]
    models: dict[str, str]


class DataFailed(Numbered):
    """A request failed: the data can't be read."""

    event: Literal["data_failed"]
    message: str


DATA_EVENTS = (
    DataWaiting,
    DataOpened,
    DataNeedsTarget,
    DataLabelling,
    DataThumbnails,
    DataSamples,
    DataCompared,
    DataChecked,
    DataCheckEnded,
    DataSuggested,
    DataFailed,
)
