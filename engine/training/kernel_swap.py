"""Which kernels a training uses and from which step on, so that a resumed one ends bit-equal."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.core.errors import FormatError
from engine.kernels.choice import NUMPY_RUNS, Gate, gate, kernels, wants_fast
from engine.training.config import TrainingConfig
from engine.training.events import now
from engine.training.folder.recorded import kernels_taken
from resources import compiling
from resources.training_events import KernelsTaken

# With "auto" so many steps use NumPy's kernels, as so many runs of any plan do. A training counts steps
# instead: plans of a resumed one are new, and it ends bitwise identical all the same.
SWAP_STEP = NUMPY_RUNS

_log = logging.getLogger(__name__)
_NEVER = -1


class KernelSwap:
    """Lets the plans of a training take compiled kernels, all at one step.

    With "auto" that is step ``SWAP_STEP``, whatever the clock says: the training waits there for kernels that
    are not ready, so two trainings with one seed are bitwise identical. With "fast", and in each of several
    processes that share a training, the first step waits. A resumed training does what it did before:
    ``recorded`` is what its checkpoint says (None for a new training, empty for one of a release without
    compiled kernels), ``later`` the step at which it swapped after the checkpoint, where its journal records
    one, ``step`` that of the checkpoint.

    ``record`` has the last three as plain values: with them and the same choice, each rank of a training
    takes the same kernels at the same steps.

    Raises FormatError for a record that is none, ModeError for "fast" without llvmlite.
    """

    def __init__(
        self,
        choice: str,
        recorded: Mapping[str, Any] | None = None,
        later: int | None = None,
        together: bool = False,
        step: int = 0,
    ) -> None:
        self.record = {"recorded": recorded and dict(recorded), "later": later, "step": step}
        self._gate = Gate()
        self._reported = False
        self._missing = ""  # why no kernel can be compiled, once that was tried
        word = kernels.get() if choice == "auto" else choice  # the environment may say which
        with kernels.guard(word):
            self.choice = word if wants_fast() else "numpy"
        if (word, self.choice) == ("auto", "numpy"):
            _log.info("kernels: NumPy computes; for compiled ones run: %s", compiling.INSTALL)
        self._at_once = together or self.choice == "fast"
        self._at = max(0 if self._at_once else SWAP_STEP, step)
        self._since = _NEVER  # what a checkpoint records
        if recorded is not None:
            self._follow(recorded, later)

    @classmethod
    def of_run(
        cls, config: TrainingConfig, checkpoint: Mapping[str, Any] | None, journal: Path | None
    ) -> KernelSwap:
        """That of the settings; where a training resumes from ``checkpoint`` with the same choice, the same
        as before. ``journal`` is that of the steps which it repeats, None where it begins new ones."""
        recorded, later, step = None, None, 0
        if checkpoint is not None:
            step = int(checkpoint["progress"]["step"])
            if checkpoint["config"].get("kernels", "auto") == config.kernels:
                recorded = checkpoint.get("kernels", {})
                if journal is not None:
                    later = kernels_taken(journal, step)
        return cls(config.kernels, recorded, later, together=config.workers > 1, step=step)

    def _follow(self, recorded: Mapping[str, Any], later: int | None) -> None:
        choice, since = recorded.get("choice", "numpy"), recorded.get("since", _NEVER)
        # Earlier releases swapped when the compiler was done, and recorded no step before that.
        at = recorded.get("at", self._at if since == _NEVER else since)
        if choice not in ("auto", "fast", "numpy") or not isinstance(since, int) or not isinstance(at, int):
            raise FormatError(
                f"resume: the checkpoint does not say which kernels computed it: {dict(recorded)!r:.200}; "
                "resume from another checkpoint or start a new run"
            )
        uses = choice != "numpy" and (since != _NEVER or later is not None)
        if uses and self.choice == "numpy":
            _log.warning(
                "kernels: the training used compiled ones; here NumPy computes, since llvmlite is not "
                "installed or the environment says so: the last digits will differ"
            )
        elif since != _NEVER and recorded.get("built") != built():
            _log.warning(
                "kernels: the training used those of another CPU or release; the last digits may differ"
            )
        if choice == "numpy":
            self.choice = choice
        elif self.choice != "numpy":
            prefer_ways(recorded.get("ways"))
        self._since = since
        self._at = later if since == _NEVER and later is not None else at

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Within the block plans use the kernels of this training."""
        with kernels.guard(self.choice), gate.guard(self._gate):
            yield

    @property
    def since(self) -> int:
        """The steps that were trained on NumPy's kernels, once others are in use; else -1."""
        taken = self._gate.is_open and not self._missing and (self._at_once or bool(self._gate.taken))
        return self._at if self._since == _NEVER and taken else self._since

    def due(self, step: int, waiting: Callable[[float], None] | None = None) -> KernelsTaken | None:
        """Take compiled kernels from the step after ``step`` on, where it is time; None where it is not, or
        where no plan has any. Where llvmlite can't be loaded, the event says so.

        Waits for kernels that are not ready, and calls ``waiting`` with the seconds so far each second.
        """
        if self.choice == "numpy" or self._reported:
            return None
        if not self._gate.is_open:
            self._gate.begin()
            if self._since == _NEVER and step < self._at:
                return None
            self._gate.open(waiting)
        if missing := self._try_loading():
            self._reported = True
            return KernelsTaken(
                event="kernels", time=now(), step=step, since=_NEVER, operators=[], missing=missing
            )
        if self.since == _NEVER:
            return None
        self._reported = True
        return KernelsTaken(
            event="kernels", time=now(), step=step, since=self.since, operators=sorted(self._gate.taken)
        )

    def _try_loading(self) -> str:
        """Why the kernels that plans asked for, or will ask for at once, can't be compiled here."""
        if self._at_once or (self._gate.asked and not self._gate.taken):
            from engine.kernels.fast.compiler import load

            self._missing = load()
        return self._missing

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps: the choice, the step at which compiled kernels are taken, since when they
        are in use, what they depend on, and which ways were chosen by measurement."""
        # Its name costs the import of llvmlite, which waits until it is needed.
        in_use = self.since != _NEVER and self.choice != "numpy"
        found = {
            "choice": self.choice,
            "since": self.since,
            "built": built() if in_use else "",
            "at": self._at,
        }
        return found | ({"ways": ways_taken()} if in_use else {})


def ways_taken() -> dict[str, str]:
    """The ways to compute that were measured to be fastest, by a short name of what they compute."""
    from engine.kernels.fast.measured import choices

    return choices().taken()


def prefer_ways(recorded: object) -> None:
    """Take the ways that a checkpoint records, which may be of any kind."""
    from engine.kernels.fast.measured import choices

    if isinstance(recorded, Mapping):
        choices().prefer({k: v for k, v in recorded.items() if isinstance(k, str) and isinstance(v, str)})


def built() -> str:
    """A short name for everything that the code of compiled kernels depends on; empty where llvmlite can't be
    loaded."""
    from engine.kernels.fast.compiler import identity, load

    return "" if load() else hashlib.sha256(identity().encode()).hexdigest()[:16]
