"""What both commands begin with: a saved model or a run in its process, and one sample of a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.cli.export.prediction_output import note_read
from studio.cli.output import fail
from studio.cli.trust import trusted_digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.core.models.limits import ModelLimits
    from engine.explain import Subject
    from engine.training.exporting.raw_inputs import FedInputs
    from studio.session.predict.model_choice import ModelChoice
    from studio.session.predict.model_info import ModelInfo
    from studio.session.predict.model_input import ModelInput


@dataclass(frozen=True)
class OpenedSample:
    """A model, a sample as a person gives it, and as the model is fed it."""

    info: ModelInfo
    subject: Subject
    values: tuple[NDArray[Any], ...]
    arrays: list[NDArray[Any]]
    inputs: tuple[ModelInput, ...]


@contextmanager
def opened_sample(
    command: str,
    model: Path,
    file: Path,
    row: int,
    checkpoint: int | None,
    limits: ModelLimits,
    trust: bool,
) -> Iterator[OpenedSample]:
    """The model, and the sample of number ``row`` in the file.

    Runs, and saved models of another installation, are in a child process. Raises what loading and reading
    raise; ends the command for a run whose code may not run.
    """
    from engine.core.errors import ArgumentError, EngineError
    from studio.session.predict.model_info import arrays_of
    from studio.session.predict.model_input import inputs_of
    from studio.session.predict.several_inputs import samples_in

    with _opened(_choice(command, model, checkpoint, trust), limits) as (info, subject):
        read_of: list[FedInputs] = []
        items = samples_in(file, info, read_of.append)
        if row >= len(items):
            raise ArgumentError(f"{file}: no sample {row}: it has {len(items)}; give 0 to {len(items) - 1}")
        try:
            read = items[row].read()
        except EngineError:
            raise
        except ValueError as error:  # of an image or a row that can't be used
            fail(str(error))
        for fed in read_of:
            _note_of_row(file, fed, row, info)
        values = read if isinstance(read, tuple) else (read,)
        arrays = arrays_of(info, values)
        yield OpenedSample(info, subject, values, arrays, inputs_of(info))


def _note_of_row(file: Path, fed: FedInputs, row: int, info: ModelInfo) -> None:
    """Note what was unknown, missing or padded in the sample."""
    if not (fed.unknown or fed.missing or fed.padded):
        return
    if info.raw is not None and len(fed) > 1:  # the counts are of all
        fed = info.raw.file(file, only=row)
    note_read(file, fed)


@contextmanager
def _opened(choice: ModelChoice, limits: ModelLimits) -> Iterator[tuple[ModelInfo, Subject]]:
    from engine.explain import Subject
    from engine.explain.guarded.process import ProcessModel
    from engine.explain.sources import loaded_model
    from engine.jit.export import prediction_layer
    from engine.jit.saved.model_files import is_own_model, read_model_files
    from studio.session.explain.explain_client import explaining_process
    from studio.session.predict.model_info import model_info

    if not choice.of_run and is_own_model(choice.path):
        files = read_model_files(choice.path)
        info = model_info(choice, files.info, files.save_id, own=True)
        yield info, Subject(loaded_model(prediction_layer(files)))
        return
    with explaining_process(choice, limits) as process:
        described = process.load()
        info = model_info(choice, described.info, described.save_id, described.own)
        yield info, Subject(ProcessModel(process, owned=False))


def is_run(path: Path) -> bool:
    """Whether a folder is that of a run."""
    return (path / "checkpoints").is_dir() or (path / "journal.jsonl").exists()


def _choice(command: str, model: Path, checkpoint: int | None, trust: bool) -> ModelChoice:
    from studio.session.predict.model_choice import ModelChoice, checkpoints_of, run_choice

    if not is_run(model):
        if checkpoint is not None:
            fail(f"{command}: --checkpoint chooses one of a run, and {model} is a saved model; leave it out")
        return ModelChoice(str(model))
    digest = trusted_digest(command, model, trust)
    if checkpoint is None:
        chosen = run_choice(str(model), digest)
        if chosen is None:
            fail(f"{command}: the run has no checkpoint: {model}; train it first")
        return chosen
    found = {each.step: each.path for each in checkpoints_of(str(model))}
    if checkpoint not in found:
        there = ", ".join(str(step) for step in found if step >= 0) or "none"
        fail(f"{command}: no checkpoint of step {checkpoint}: {model}; there are: {there}")
    return ModelChoice(str(model), found[checkpoint], digest)


def place_of(given: str, names: tuple[str, ...], count: int, what: str) -> int:
    """The place of a class, an input or an output by its name or its number.

    Raises ArgumentError for another one.
    """
    from engine.core.errors import ArgumentError

    if given in names:
        return names.index(given)
    if given.isdecimal() and int(given) < count:
        return int(given)
    listed = ", ".join(names[:20]) if names else f"0 to {count - 1}"
    raise ArgumentError(f"explain: no such {what}: got {given!r}; there are {listed}")
