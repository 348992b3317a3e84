"""DataViewModel: the data that is chosen, some of its samples, and what is wrong with it, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psygnal import SignalGroupDescriptor

from resources.families import ModelSpec
from studio.session.problem_view import ProblemView, problem_from_message
from studio.session.train.suggest.choice_view import ChoiceView


@dataclass(frozen=True)
class ColumnView:
    """A column of a table (``engine.training.sources.spec.Column``)."""

    name: str
    role: str
    type: str
    reason: str = ""
    words: tuple[str, ...] = ()
    missing: int = 0
    distinct: int = 0
    unit: str = ""

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> ColumnView:
        """The column that an event describes."""
        return cls(**{name: _frozen(plain[name]) for name in cls.__dataclass_fields__ if name in plain})


@dataclass(frozen=True)
class DataFacts:
    """What data is: ``raw`` is the shape of a sample as it lies there, ``fed`` that of what a model is fed.

    ``train_balance`` and ``test_balance`` count the samples of each class. ``label_file`` has the labels of a
    folder of images without class folders. ``spec`` is
    ``engine.training.sources.spec.DataSpec`` as plain values; ``targets`` has a histogram of each number to
    predict.
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
    label_file: str = ""
    train_balance: tuple[int, ...] = ()
    test_balance: tuple[int, ...] = ()
    spec: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[Mapping[str, Any], ...] = ()

    @property
    def sample_kind(self) -> str:
        """images, table or sequences."""
        return str(self.spec.get("kind", "images" if self.is_image else "table"))

    @property
    def task(self) -> str:
        """classes or numbers."""
        return str(self.spec.get("task", "classes"))

    @property
    def table(self) -> tuple[ColumnView, ...]:
        """The columns of a table with names."""
        return tuple(ColumnView.of(each) for each in self.spec.get("columns", ()))

    @property
    def model_spec(self) -> ModelSpec:
        """What a network for this data is built for; of data with a ``spec``."""
        spec = self.spec
        words = tuple(len(column.words) for column in self.table if column.role == "input")
        outputs = len(spec["classes"] if spec["task"] == "classes" else spec["targets"])
        return ModelSpec(
            spec["kind"],
            tuple(spec["shape"]),
            outputs,
            words if any(words) else (),
            bool(spec["masked"]),
            max(1, len(self.inputs)),
        )

    @property
    def inputs(self) -> tuple[str, ...]:
        """Name, shape and dtype of each input of samples with several; empty for one."""
        found = []
        for each in self.spec.get("feeds", ()):
            sizes = " \u00d7 ".join(map(str, each["shape"]))
            found.append(f"{each['name']} {sizes} {each['dtype']}")
        return tuple(found)

    @property
    def reasons(self) -> dict[str, str]:
        """Why the kind and the task are what they are, by the setting."""
        return {name: str(self.spec.get(f"{name}_reason", "")) for name in ("kind", "task")}


@dataclass(frozen=True)
class SamplePage:
    """Samples of a split: ``values`` are uint8 images [H, W] or [H, W, 3], or the first numbers of rows.

    ``label`` is the class that was asked for, -1 for all; ``of`` how many samples it has; ``broken`` says
    which can't be read. ``numbers`` are the positions of the samples in the split.
    """

    split: str
    label: int
    page: int
    of: int
    labels: tuple[int, ...]
    places: tuple[str, ...]
    broken: tuple[bool, ...]
    values: tuple[Any, ...]
    targets: tuple[Any, ...] = ()
    numbers: tuple[int, ...] = ()


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


@dataclass(frozen=True)
class UnlabelledFolder:
    """A folder of images that are to be labelled: their names with their labels, empty for none; ``place`` is
    the file of labels where it is not in the folder."""

    folder: str
    files: tuple[str, ...]
    labels: tuple[str, ...]
    classes: tuple[str, ...]
    place: str = ""


@dataclass(frozen=True, eq=False)
class ThumbnailPage:
    """Some images of it, uint8 [H, W, 3]; None where one can't be read."""

    files: tuple[str, ...]
    values: tuple[Any, ...]


@dataclass
class DataViewModel:
    """What the page Data shows.

    ``state`` is empty, opening, ready, asking (for the target, one of ``choices``), labelling (the images of
    ``unlabelled``) or failed; ``message`` what is waited for. ``checking`` is True while samples are looked
    at: ``done`` of ``total``; ``stopped`` where that was ended before its end. ``expected`` is what would be
    suggested for the next run, None while that is not known.
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
    subject: str = ""
    choices: tuple[ColumnView, ...] = ()
    expected: tuple[ChoiceView, ...] | None = None
    unlabelled: UnlabelledFolder | None = None
    thumbnails: ThumbnailPage | None = None
    last_problem: ProblemView | None = None

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    def begin(self, subject: str = "") -> None:
        """The data ``subject``, or the same in another way, is being opened; what is shown stays until it is
        there."""
        self.subject = subject
        self.last_problem, self.message = None, ""
        self.checking = False
        self.state = "opening"

    def failed(self, message: str) -> None:
        """It can't be opened."""
        self.last_problem = problem_from_message(message, "The data can't be read")
        self._forget()
        self.state = "failed"

    def _forget(self) -> None:
        self.facts, self.samples, self.compared, self.problems = DataFacts(), None, None, ()
        self.expected = None
        self.unlabelled = self.thumbnails = None
        self.checking = False

    def take(self, event: Mapping[str, Any]) -> None:
        """An event of the child process."""
        kind = event["event"]
        if kind == "data_waiting":
            self.message = event["message"]
        elif kind == "data_opened":
            self.problems, self.done, self.total, self.stopped = (), 0, 0, False
            self.facts = DataFacts(**_fields(DataFacts, event))
            self.unlabelled = self.thumbnails = None
            self.message, self.state, self.checking = "", "ready", True
        elif kind == "data_samples":
            self.samples = SamplePage(**_fields(SamplePage, event))
        elif kind == "data_needs_target":
            self._forget()
            self.choices = tuple(ColumnView.of(each) for each in event["columns"])
            self.message, self.state = event["message"], "asking"
        elif kind == "data_labelling":
            self._forget()
            self.unlabelled = UnlabelledFolder(**_fields(UnlabelledFolder, event))
            self.state = "labelling"
        elif kind == "data_thumbnails":
            self.thumbnails = ThumbnailPage(**_fields(ThumbnailPage, event))
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
        elif kind == "data_suggested":
            self.expected = tuple(ChoiceView(**each) for each in event["choices"])
        elif kind in ("data_failed", "failed"):
            self.failed(str(event["message"]))


def _fields(made: Any, event: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a view that the event has."""
    return {name: _frozen(event[name]) for name in made.__dataclass_fields__ if name in event}


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
