"""Selection: the one run or saved model that all pages and panels show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from psygnal import SignalGroupDescriptor


@dataclass(frozen=True)
class Selected:
    """What is selected: a run by its folder, or a saved model by its prefix or its one file."""

    kind: Literal["", "run", "model"] = ""
    path: str = ""

    def __bool__(self) -> bool:
        return bool(self.kind)


NOTHING = Selected()


@dataclass
class Selection:
    """``item`` is what is selected. Without any the pages show what the settings say of the next run."""

    item: Selected = NOTHING

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    @property
    def run(self) -> str:
        """The folder of the selected run; empty where no run is selected."""
        return self.item.path if self.item.kind == "run" else ""

    @property
    def model(self) -> str:
        """The prefix of the selected model; empty where no model is selected."""
        return self.item.path if self.item.kind == "model" else ""

    def select_run(self, folder: str) -> None:
        """Select the run in ``folder``; with an empty text no run, and a selected model stays."""
        if folder:
            self.item = Selected("run", folder)
        elif self.run:
            self.clear()

    def select_model(self, prefix: str) -> None:
        """Select the saved model under ``prefix``."""
        self.item = Selected("model", prefix)

    def clear(self) -> None:
        """Select nothing."""
        self.item = NOTHING
