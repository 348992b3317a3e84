"""Facts from a run's folder: the step at which it went wrong, and the checkpoints before that."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.errors import ArgumentError, DataError, EngineError
from engine.debugger.views import arrays_of, is_finite
from engine.files.checkpoint import list_checkpoints
from engine.files.journal import JournalEvent, read_journal
from engine.training.folder.run_folder import RunFolder
from engine.training.rules.rate import Change, changes_after


@dataclass(frozen=True)
class WentWrong:
    """The step (from 1) at which the loss was no finite number, or that an error ended."""

    step: int
    message: str
    diverged: bool


def recorded_events(folder: Path) -> list[JournalEvent]:
    """The events of the run's journal; none where it can't be read."""
    with suppress(EngineError):
        return list(read_journal(RunFolder(folder).journal_path).events)
    return []


def went_wrong(events: list[JournalEvent]) -> WentWrong | None:
    """Where the run first diverged, else where it failed; None where it did neither."""
    for event in events:
        step = event.get("step")
        if event.get("event") == "diverged" and isinstance(step, int):
            return WentWrong(step, str(event.get("message", "")), True)
    last = events[-1] if events else {}
    step = last.get("step")
    if last.get("event") == "failed" and isinstance(step, int):
        return WentWrong(step + 1, str(last.get("message", "")), False)
    return None


def _is_complete(tree: Mapping[str, Any]) -> bool:
    """Whether a checkpoint is that of the end of its training."""
    progress, config = tree.get("progress"), tree["config"]
    done, epochs = progress.get("epoch") if isinstance(progress, dict) else None, config.get("epochs")
    return isinstance(done, int) and isinstance(epochs, int) and done >= epochs


def weights_are_finite(tree: Mapping[str, Any]) -> bool:
    """Whether no weight of a checkpoint is NaN or infinite."""
    weights = tree.get("model")
    return not isinstance(weights, dict) or all(map(is_finite, arrays_of(list(weights.values()))))


def changed_rates(events: list[JournalEvent], step: int) -> list[Change]:
    """All changes of the learning rate at ``step`` or later, those before it diverged too."""
    return changes_after([event for event in events if event.get("event") != "stopped"], step)


def chosen_checkpoint(
    folder: Path, step: int | None, before: int | None
) -> tuple[Mapping[str, Any], list[str]]:
    """The content of the checkpoint of ``step``; or of the newest sound one that the step ``before`` comes
    after, and whose weights are finite; without both, of the newest that a training continues from. With it,
    what is wrong with those that were skipped as damaged.

    Raises:
        ArgumentError: no checkpoint of that step. DataError: none that is sound.
    """
    store = RunFolder(folder)
    store.refuse_links()
    entries = list_checkpoints(store.checkpoints_path)
    if step is not None:
        for entry in entries:
            if entry.step == step:
                return store.read_checkpoint(entry.path), []
        there = ", ".join(str(entry.step) for entry in entries) or "none"
        raise ArgumentError(f"debug: no checkpoint of step {step}: {folder}; there are: {there}")
    damaged: list[str] = []
    for entry in reversed(entries):
        if before is None or entry.step < before:
            try:
                tree = store.read_checkpoint(entry.path)
            except EngineError as error:
                damaged.append(error.message)
                continue
            fits = not _is_complete(tree) if before is None else weights_are_finite(tree)
            if fits or entry is entries[0]:
                return tree, damaged
    reasons = f" ({'; '.join(each.partition('; ')[0] for each in damaged)})" if damaged else ""
    if entries and before is not None:
        raise DataError(
            f"debug: there is no sound checkpoint before step {before}: {folder}{reasons}; give a --batch "
            f"after step {entries[0].step}"
        )
    raise DataError(
        f"debug: there is no sound checkpoint: {store.checkpoints_path}{reasons}; give the folder of a run, "
        "the PREFIX of a saved model, or --model"
    )
