"""A saved model written in another format, after both gave the same outputs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import ArgumentError, FormatError
from engine.files.atomic import make_folder
from engine.files.plain import StrPath
from engine.files.scratch import folder_next_to
from engine.jit.export import load, write_model
from engine.jit.saved.compare_outputs import TOLERANCE, answered_feeds, difference, outputs_of
from engine.jit.saved.edit_model import ModelEdits, edit_layer
from engine.jit.saved.model_files import move_model_files, path_in_format
from engine.jit.translated_layer import FORWARD, TranslatedLayer
from engine.program.graph.program import Program
from engine.program.passes.inference import inference_program


@dataclass(frozen=True)
class FormatChange:
    """What was written: its path, its save id and the largest difference of outputs, as a share of the
    largest one."""

    path: Path
    save_id: str
    difference: float


def change_format(
    source: StrPath,
    target: StrPath,
    format: str,
    optimize: bool = False,
    compress: bool = False,
    edits: ModelEdits | None = None,
) -> FormatChange:
    """Write the saved model at ``source``, of any format, as ``target`` in ``format``, with ``edits``.

    The new files are loaded again, and both models run on random inputs of two sizes, before anything at
    ``target`` changes. A model that this installation did not write stays one that runs with limits.

    Raises:
        DataError, FormatError: ``source`` can't be read, or the outputs differ. SaveError: the files can't
            be written. ArgumentError: an unknown format, or a model in training mode that is to be optimized.
    """
    layer = load(str(source))
    if edits:
        layer = edit_layer(layer, edits)
    place = path_in_format(target, format)
    make_folder(place.parent)
    with folder_next_to(place) as work:
        written = path_in_format(work / "model", format)
        programs = _programs(layer)
        forward = programs.pop(FORWARD)
        try:
            save_id = write_model(
                str(written), forward, programs, _names(layer), layer.info, optimize, format, compress
            )
        except (ArgumentError, FormatError) as error:  # names the file that the user asked for
            raise type(error)(error.message.replace(f"{work / 'model'}", f"{place}")) from error
        apart = _apart(layer, load(str(written)), str(place))
        move_model_files(written, place, format)
    return FormatChange(place, save_id, apart)


def _programs(layer: TranslatedLayer) -> dict[str, Program]:
    """The methods as they were saved."""
    return {name: inference_program(f.program, f.inputs, f.outputs) for name, f in layer.functions.items()}


def _names(layer: TranslatedLayer) -> dict[int, str]:
    return {id(tensor): name for name, tensor in layer.state_dict().items()}


def _apart(before: TranslatedLayer, after: TranslatedLayer, where: str) -> float:
    """The largest difference of outputs. Raises FormatError where it is over ``TOLERANCE``."""
    old, new = before.program(), after.program()
    feeds, wanted = answered_feeds(old, lambda feed: outputs_of(old, feed))
    found_now = [outputs_of(new, dict(zip(new.inputs, feed.values(), strict=True))) for feed in feeds]
    found = max(
        (
            difference(given, value, f"{where}: {name}")
            for values, others in zip(wanted, found_now, strict=True)
            for value, given, name in zip(values, others, old.outputs, strict=True)
        ),
        default=0.0,
    )
    if found > TOLERANCE:
        raise FormatError(
            f"{where}: the results differ by {found:.2g} of the largest, over {TOLERANCE:g}; nothing was "
            "written; report this with the model's code"
        )
    return found
