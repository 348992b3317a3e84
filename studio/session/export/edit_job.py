"""The job that writes a saved model with changes: other names, other dimensions, a part of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict

from resources.settings.export import ENDINGS
from studio.session.work.job import Emit, Inbox, job

if TYPE_CHECKING:
    from studio.session.project.session_script import SessionScript


class ModelEdited(TypedDict):
    """Where the edited model is, its inputs and outputs, and the largest difference of both results."""

    event: Literal["model_edited"]
    time: float
    path: str
    inputs: list[str]
    outputs: list[str]
    difference: float


@job
class EditModel:
    """Write the saved model ``source`` as ``target``, in the format of its suffix; edits are those of
    ``convert``."""

    TITLE: ClassVar = "Editing {0}"
    EVENTS: ClassVar = (ModelEdited,)

    source: str
    target: str
    rename: tuple[str, ...] = ()
    dims: tuple[str, ...] = ()
    cut: str = ""
    fold: bool = False

    @property
    def subject(self) -> str:
        return Path(self.source).name

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``model_edited``."""
        from engine.jit.export import load
        from engine.jit.saved.change_format import change_format
        from engine.jit.saved.edit_model import parse_edits
        from engine.jit.saved.model_files import ONNX, path_in_format

        edits = parse_edits(self.rename, self.dims, self.cut, self.fold)
        format = next((kind for kind, end in ENDINGS.items() if self.target.lower().endswith(end)), "native")
        place = path_in_format(self.target, format)
        if format == ONNX:
            from engine.onnx.convert import convert_model

            difference = max(convert_model(self.source, place, edits=edits).differences.values())
        else:
            difference = change_format(self.source, place, format, edits=edits).difference
        program = load(str(place)).program()
        emit(
            {
                "event": "model_edited",
                "time": time.time(),
                "path": str(place),
                "inputs": list(program.inputs),
                "outputs": list(program.outputs),
                "difference": float(difference),
            }
        )

    def record(self, script: SessionScript) -> None:
        """Edit again."""
        words = ["convert", self.source, self.target]
        for option, values in (("--rename", self.rename), ("--dim", self.dims)):
            words += [word for value in values for word in (option, value)]
        words += ["--cut", self.cut] if self.cut else []
        script.add(*words, *(["--fold"] if self.fold else []))
