"""DataViewModel: the data that is chosen, some of its samples, and what is wrong with it, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psygnal import SignalGroupDescriptor

from studio.session.problem_view import ProblemView, problem_from_message


@dataclass(frozen=True)
class DataFacts:
    """What data is: ``raw`` is the shape of a sample as it lies there, ``fed`` that of what a model is fed.

    ``train_balance`` and ``test_balance`` count the samples of each class.
    """

    name: str = ""
    kind: str = ""
    is_image: bool = True
    raw: tuple[int, ...] = ()
    fed: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    train: int = 0
    test: int = 0
    own_split: bool = True
    unlabelled: int = 0
    train_balance: tuple[int, ...] = ()
    test_balance: tuple[int, ...] = ()


@dataclass(frozen=True)
class SamplePage:
    """Samples of a split: ``values`` are uint8 images [H, W] or [H, W, 3], or the first numbers of rows.

    ``label`` is the class that was asked for, -1 for all; ``of`` how many samples it has; ``broken`` says
    which can't be read.
    """

    split: str
    label: int
    page: int
    of: int
    labels: tuple[int, ...]
    places: tuple[str, ...]
    broken: tuple[bool, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Compared:
    """The same samples before and after the preparation, and the least and largest number that is fed."""

    before: tuple[Any, ...]
    after: tuple[Any, ...]
    ranges: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class DataProblem:
    """A kind of problem (``engine.training.sources.survey.Found``), its count, and the first places of it."""

    kind: str
    count: int
    places: tuple[str, ...]


@dataclass
class DataViewModel:
    """What the page Data shows.

    ``state`` is empty, opening, ready or failed; ``message`` what is waited for. ``checking`` is True while
    samples are looked at: ``done`` of ``total``; ``stopped`` where that was ended before its end.
    """

    state: str = ""
    message: str = ""
    facts: DataFacts = field(default_factory=DataFacts)
    samples: SamplePage | None = None
    compared: Compared | None = None
    checking: bool = False
    stopped: bool = False
    done: int = 0
    total: int = 0
    problems: tuple[DataProblem, ...] = ()
    last_problem: ProblemView | None = None

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    def begin(self) -> None:
        """Other data, or the same in another way, is being opened; what is shown stays until it is there."""
        self.last_problem, self.message = None, ""
        self.checking = False
        self.state = "opening"

    def failed(self, message: str) -> None:
        """It can't be opened."""
        self.last_problem = problem_from_message(message, "The data can't be read")
        self.facts, self.samples, self.compared, self.problems = DataFacts(), None, None, ()
        self.checking, self.state = False, "failed"

    def take(self, event: Mapping[str, Any]) -> None:
        """An event of the child process."""
        kind = event["event"]
        if kind == "data_waiting":
            self.message = event["message"]
        elif kind == "data_opened":
            self.problems, self.done, self.total, self.stopped = (), 0, 0, False
            self.facts = DataFacts(**{name: _frozen(event[name]) for name in DataFacts.__dataclass_fields__})
            self.message, self.state, self.checking = "", "ready", True
        elif kind == "data_samples":
            self.samples = SamplePage(
                **{name: _frozen(event[name]) for name in SamplePage.__dataclass_fields__}
            )
        elif kind == "data_compared":
            ranges = tuple((float(low), float(high)) for low, high in event["ranges"])
            self.compared = Compared(tuple(event["before"]), tuple(event["after"]), ranges)
        elif kind == "data_checked":
            self.total = event["total"]
            self.done = event["done"]
            self.problems = tuple(
                DataProblem(each["kind"], each["count"], tuple(each["places"])) for each in event["problems"]
            )
        elif kind == "data_check_done":
            self.checking = False
        elif kind == "data_check_stopped":
            self.checking, self.stopped = False, True
        elif kind in ("data_failed", "failed"):
            self.failed(str(event["message"]))


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
