"""The Programs that are compared: of saved models, of runs, in training and in inference, after each pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.session.export.export_registry import exported_files

if TYPE_CHECKING:
    from engine.jit.saved.structure import Structure
    from engine.program.graph.program import Program


@dataclass(frozen=True)
class ComparedPrograms:
    """Two plain Programs with their differences; ``name`` is the pass between them, or empty."""

    name: str
    a: Mapping[str, Any]
    b: Mapping[str, Any]
    structure: Structure

    @property
    def operators(self) -> int:
        """How many operators were compared."""
        return max(sum(len(block["ops"]) for block in each["blocks"]) for each in (self.a, self.b))


def compared_pair(a: str, b: str) -> ComparedPrograms:
    """The Programs of two saved models, without their weights. Raises as the readers of files."""
    from engine.jit.saved.structure import compare_structure
    from engine.program.saved.serialize import to_plain

    one, other = to_plain(read_program(a)), to_plain(read_program(b))
    return ComparedPrograms("", one, other, compare_structure(one, other))


def saved_pair(a: str, b: str) -> ComparedPrograms | None:
    """The Programs of two saved models, those that can't be built as their files have them; None where a
    file has none. Raises as the readers of files."""
    from engine.jit.saved.structure import compare_structure

    one, other = _plain(a), _plain(b)
    if one is None or other is None:
        return None
    return ComparedPrograms("", one, other, compare_structure(one, other))


def _plain(path: str) -> Mapping[str, Any] | None:
    from engine.core.errors import FormatError
    from engine.jit.saved.model_files import describe_model_files
    from engine.program.saved.serialize import to_plain

    try:
        return to_plain(read_program(path))
    except FormatError:
        found = describe_model_files(path).program
        return found if isinstance(found, dict) else None


def model_path(path: str) -> str:
    """The saved model that ``path`` means: itself, or the newest export of a run's folder.

    Raises DataError for a run without any.
    """
    from engine.core.errors import DataError

    folder = Path(path)
    if not (folder / "journal.jsonl").is_file():
        return path
    exported = exported_files([path], [])
    if not exported:
        raise DataError(
            f"{path}: the run has no exported files, and a comparison runs none of its code; export it "
            f"first: model-studio export {path}"
        )
    return exported[0].prefix


def training_and_inference(path: str) -> ComparedPrograms:
    """The Program at ``path`` as it trains and as it predicts: without gradients and updates, dropout and
    batch norm in the mode for prediction. Raises as the readers of files."""
    from engine.jit.saved.structure import compare_structure
    from engine.program.passes.clone import clone
    from engine.program.saved.serialize import to_plain

    program = read_program(path)
    a, b = to_plain(program), to_plain(clone(program, for_test=True))
    return ComparedPrograms("", a, b, compare_structure(a, b))


def each_pass(path: str, level: int) -> list[ComparedPrograms]:
    """The Program at ``path`` before and after each pass of a level. Raises as the readers of files."""
    from engine.jit.saved.structure.passes import compare_passes

    found = compare_passes(read_program(path, with_weights=level > 1), level)
    return [ComparedPrograms(each.name, each.before, each.after, each.structure) for each in found]


def read_program(path: str, with_weights: bool = False) -> Program:
    """The Program of a saved model, of a run's newest export, or of what ``static.save`` wrote.

    Raises DataError and FormatError as the readers of files, ArgumentError for ``with_weights`` of a Program
    without any.
    """
    from engine.core.errors import ArgumentError
    from engine.jit.export import FORWARD, load, programs_of
    from engine.jit.saved.model_files import read_model_files

    state = state_file(path)
    if state is not None:
        from engine.static.inference_files import deserialize_program, load_from_file

        if with_weights:
            raise ArgumentError(
                f"{path}: only the passes of level 1 can be compared for a Program of static.save; export it "
                "with save_inference_model for the others"
            )
        return deserialize_program(load_from_file(str(state)))
    found = model_path(path)
    if with_weights:
        return load(found).program()
    programs = programs_of(read_model_files(found))
    return programs.get(FORWARD) or next(iter(programs.values()))


def state_file(path: str) -> Path | None:
    """The file of the Program that ``static.save`` wrote at ``path``, a prefix or that file; else None."""
    from engine.files.content import container_kind
    from engine.files.state import KIND

    given = Path(path)
    file = given if given.suffix == ".pdmodel" else given.with_name(f"{given.name}.pdmodel")
    return file if container_kind(file) == KIND else None
