"""What the command predict reads and prints: samples of files, a line for each, or a table of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resources import quantities
from studio.cli.output import emit_json, say

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engine.training.exporting.raw_inputs import FedInputs
    from studio.session.predict.batch_predictions import Item
    from studio.session.predict.model_info import ModelInfo, Scores


def samples_of(paths: Sequence[Path], info: ModelInfo) -> Iterator[tuple[Path, Sequence[Item]]]:
    """The samples in each file or folder; notes on stderr what was unknown or missing in tables."""
    from studio.session.predict.several_inputs import samples_in

    for path in paths:
        yield path, samples_in(path, info, partial(note_read, path))


def note_read(path: Path, fed: FedInputs) -> None:
    """Note on stderr what was unknown, missing or padded in a file."""
    for name, count in fed.unknown.items():
        words = "1 word" if count == 1 else f"{count} words"
        say(f"note: {path}: column {name}: {words} that training never saw", err=True)
    for name, count in fed.missing.items():
        values = "1 missing value" if count == 1 else f"{count} missing values"
        say(f"note: {path}: column {name}: {values}", err=True)
    if fed.padded:
        say(f"note: {path}: {fed.padded} of {len(fed)} sequences padded to the model's length", err=True)


def write_table(out: Path, paths: Sequence[Path], info: ModelInfo, scores: Scores, as_json: bool) -> int:
    """Predict everything in ``paths`` into a CSV file; returns how many could not be predicted."""
    from rich.console import Console
    from rich.progress import Progress

    from studio.session.predict.batch_predictions import write_predictions

    items = [item for _, found in samples_of(paths, info) for item in found]
    screen = Console(stderr=True)
    with Progress(console=screen, transient=True, disable=as_json or not screen.is_terminal) as progress:
        task = progress.add_task("", total=len(items))
        done, missed = write_predictions(
            out, items, info, scores, lambda place, total: progress.update(task, completed=place)
        )
    if as_json:
        emit_json({"out": str(out), "predicted": done, "failed": missed})
    else:
        say(
            f"{out}: {done} predicted"
            + (f", {missed} could not be: see the column problem" if missed else "")
        )
    return missed


def print_predictions(
    prefix: str,
    paths: Sequence[Path],
    info: ModelInfo,
    scores: Scores,
    top: int,
    as_json: bool,
) -> int:
    """Print a line for each sample, and on stderr why one can't be predicted; returns how many can't."""
    from engine.core.errors import FormatError, LimitError
    from studio.session.predict.digit_images import ImageError

    failed = 0
    for path, place, item in _each(paths, info):
        try:
            found = scores(item.read())
        except LimitError as error:
            raise LimitError(f"{prefix}: {error}") from error
        except FormatError:  # the model gives no scores, of this sample or any other
            raise
        except (ImageError, ValueError) as error:
            failed += 1
            say(str(error), err=True)
            continue
        _show(path, place, found, info, top, as_json)
    return failed


def _each(paths: Sequence[Path], info: ModelInfo) -> Iterator[tuple[Path, int | None, Item]]:
    """Each sample with its file and, in a table, its row."""
    for path, items in samples_of(paths, info):
        for item in items:
            if path.is_dir():
                yield path / item.name, None, item
            else:
                yield path, int(item.name) if item.name.isdecimal() else None, item


def _show(
    path: Path, row: int | None, scores: NDArray[np.float64], info: ModelInfo, top: int, as_json: bool
) -> None:
    where: dict[str, Any] = {"image": str(path)} if row is None else {"file": str(path), "row": row}
    title = str(path) if row is None else f"{path} row {row}"
    if info.raw is not None and info.predicts_numbers:
        from engine.training.exporting.raw_inputs import without_unit

        numbers = info.raw.numbers(scores)
        if as_json:
            emit_json({**where, "values": {name: value for name, value, _ in numbers}})
        else:
            words = (
                f"{without_unit(name, unit)} {value:.6g} {unit}".strip() for name, value, unit in numbers
            )
            say(f"{title}: " + "  ".join(words))
        return
    from studio.session.predict.predict_view import rank

    ranking = rank(scores, info.classes)[:top]
    if as_json:
        answers = [{"class": name, "probability": value} for name, value in ranking]
        emit_json({**where, **answers[0], "top": answers})
    else:
        say(f"{title}: " + "  ".join(f"{name} {quantities.percent(value)}" for name, value in ranking))
