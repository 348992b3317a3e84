"""Which kernels a training uses and from which step on, so that a resumed one ends bit-equal."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.core.errors import FormatError
from engine.kernels.choice import Gate, gate, kernels, wants_fast
from engine.training.config import TrainingConfig
from engine.training.events import now
from engine.training.recorded import kernels_taken
from resources.training_events import KernelsTaken

_log = logging.getLogger(__name__)
_NEVER = -1


class KernelSwap:
    """Lets the plans of a training take compiled kernels, all at one step.

    With "auto" that is the first step before which all of them are there; with "fast", and in each of
    several processes that share a training, the first step waits for them. A resumed training does what it
    did before: ``recorded`` is what its checkpoint says (None for a new training, empty for one of a
    release without compiled kernels), ``later`` the step at which it swapped after the checkpoint, where its
    journal records one.

    Raises FormatError for a record that is none, ModeError for "fast" without llvmlite.
    """

    def __init__(
        self,
        choice: str,
        recorded: Mapping[str, Any] | None = None,
        later: int | None = None,
        together: bool = False,
    ) -> None:
        self._gate = Gate()
        self.since = _NEVER  # the steps that were trained on NumPy's kernels, once others are in use
        word = kernels.get() if choice == "auto" else choice  # the environment may say which
        with kernels.guard(word):
            self.choice = word if wants_fast() else "numpy"
        self._at = 0 if together or self.choice == "fast" else None
        if recorded is not None:
            self._follow(recorded, later)

    @classmethod
    def of_run(
        cls, config: TrainingConfig, checkpoint: Mapping[str, Any] | None, journal: Path | None
    ) -> KernelSwap:
        """That of the settings; where a training resumes from ``checkpoint`` with the same choice, the same
        as before. ``journal`` is that of the steps which it repeats, None where it begins new ones."""
        recorded, later = None, None
        if checkpoint is not None and checkpoint["config"].get("kernels", "auto") == config.kernels:
            recorded = checkpoint.get("kernels", {})
            if journal is not None:
                later = kernels_taken(journal, int(checkpoint["progress"]["step"]))
        return cls(config.kernels, recorded, later, together=config.workers > 1)

    def _follow(self, recorded: Mapping[str, Any], later: int | None) -> None:
        choice, since = recorded.get("choice", "numpy"), recorded.get("since", _NEVER)
        if choice not in ("auto", "fast", "numpy") or not isinstance(since, int):
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
        if since != _NEVER:
            self.since, self._at = since, 0
        elif later is not None:
            self._at = later

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Within the block plans use the kernels of this training."""
        with kernels.guard(self.choice), gate.guard(self._gate):
            yield

    def due(self, step: int) -> KernelsTaken | None:
        """Take compiled kernels from the step after ``step`` on, where it is time; None where it is not.

        Waits for kernels where the training took them at this step before.
        """
        if self._gate.is_open or self.choice == "numpy":
            return None
        self._gate.begin()
        if not self._gate.complete() if self._at is None else step < self._at:
            return None
        if self.since == _NEVER:
            self.since = step
        return KernelsTaken(
            event="kernels", time=now(), step=step, since=self.since, operators=self._gate.open()
        )

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps of it."""
        # Its name costs the import of llvmlite, which waits until it is needed.
        return {"choice": self.choice, "since": self.since, "built": built() if self._gate.is_open else ""}


def built() -> str:
    """A short name for everything that the code of compiled kernels depends on; empty without llvmlite."""
    from engine.kernels.fast.compiler import available, identity

    return hashlib.sha256(identity().encode()).hexdigest()[:16] if available() else ""
