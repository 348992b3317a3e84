"""What the page Train shows of mistakes: matrices by epoch, hardest samples, the images of a cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from psygnal import Signal

from studio.session.runs.epoch_tables import EpochTable

if TYPE_CHECKING:
    from engine.training.corrections import Correction
    from studio.session.train.number_errors import WrongNumber


@dataclass(frozen=True, eq=False)
class SampleView:
    """A test sample and how the model read it; labels and answers are numbers of classes.

    ``image`` is one of those of ``engine.training.measuring.shown_samples``, None until it is read;
    ``digest`` is the content that a correction means, empty until then. ``probabilities`` is empty where they
    were not kept.
    """

    index: int
    label: int
    answer: int
    of_truth: float
    of_answer: float = float("nan")
    probabilities: tuple[float, ...] = ()
    image: Any = None
    digest: str = ""
    split_index: int = 0


@dataclass(frozen=True)
class SampleFilter:
    """Which test samples the gallery shows, -1 and None for any: true class, answer, whether they were read
    right, the range of the answer's probability, and their ``order`` (see ``Predictions.matching``)."""

    label: int = -1
    answer: int = -1
    right: bool | None = None
    low: float = 0.0
    high: float = 1.0
    order: str = "worst"


@dataclass
class MistakesView:
    """Plain values; a signal without arguments is emitted for each kind of change.

    ``shown`` is the place in ``tables`` of the one on screen, -1 without any. A gallery is open while
    ``what`` is not empty: it is ``samples``, those of ``filter``, or ``hardest``; ``samples`` has those of
    the page that is shown, ``selected`` the place of one of them. ``message`` says why there are none.
    """

    folder: str = ""
    data: str = ""
    tables: list[EpochTable] = field(default_factory=list)
    shown: int = -1
    classes: tuple[str, ...] = ()
    hardest: list[SampleView] = field(default_factory=list)
    what: str = ""
    filter: SampleFilter = SampleFilter()
    total: int = 0
    page: int = 0
    pages: int = 0
    samples: list[SampleView] = field(default_factory=list)
    selected: int = 0
    loading: bool = False
    message: str = ""
    corrections: list[Correction] = field(default_factory=list)

    tables_changed: ClassVar[Signal] = Signal()
    hardest_changed: ClassVar[Signal] = Signal()
    gallery_changed: ClassVar[Signal] = Signal()
    corrections_changed: ClassVar[Signal] = Signal()

    @property
    def table(self) -> EpochTable | None:
        """The one on screen."""
        return self.tables[self.shown] if 0 <= self.shown < len(self.tables) else None

    def name(self, label: int) -> str:
        """The name of a class."""
        return self.classes[label] if 0 <= label < len(self.classes) else str(label)

    def correction_of(self, sample: SampleView | WrongNumber) -> Correction | None:
        """What was said about this sample; None where nothing was."""
        found = (
            each
            for each in self.corrections
            if sample.digest and each.sha256 == sample.digest and each.data == self.data
        )
        return next(found, None)
