"""Saved models as ONNX files, with what their information says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.core.models import limits as model_limits
from engine.files.atomic import make_folder, saving
from engine.files.inference import InferenceFiles
from engine.files.native.image import product
from engine.files.scratch import folder_next_to
from engine.jit.export import layer_of, load
from engine.jit.saved import model_files
from engine.jit.saved.edit_model import ModelEdits, edit_layer
from engine.onnx.checking import Checked, Feed, check_file
from engine.onnx.write_file import write, written_opset
from engine.onnx.write_model import OPSET, write_model
from engine.program.graph.program import Program
from resources.replacing import sync_folder


def convert_model(
    prefix: str,
    target: Path,
    opset: int = OPSET,
    optimize: bool = False,
    edits: ModelEdits | None = None,
    feeds: Sequence[Feed] = (),
) -> Checked:
    """Write the saved model of ``prefix``, with ``edits``, as the ONNX file ``target``, once both agree on
    ``feeds``, or else on random inputs.

    The information of the model becomes metadata of the file: texts as they are, the rest as JSON. Raises as
    ``paddle.onnx.export``, and FormatError where a runtime refuses the file or its results differ.
    """
    opset = written_opset(opset)
    layer = load(prefix)
    if edits:
        layer = edit_layer(layer, edits)
    layer.eval()
    program = layer.program()
    model = write_model(program, metadata_of(layer.info, program), optimize)
    make_folder(target.parent)
    with saving(target), folder_next_to(target) as work:
        written = work / "model.onnx"
        write(model, str(written), opset)
        checked = check_file(written, program, model_limits.current() if program.foreign else None, feeds)
        written.replace(target)
        sync_folder(target.parent)
    return checked


@model_files.write_onnx.define
def write_onnx(files: InferenceFiles) -> str:
    """Write what other formats hold as the ONNX file ``files.prefix``, which onnx's checker has passed; the
    first half of its SHA-256 as text. Raises as ``paddle.onnx.export``."""
    layer = layer_of(files)
    layer.eval()
    program = layer.program()
    content = write(write_model(program, metadata_of(layer.info, program)), str(files.prefix))
    return hashlib.sha256(content).hexdigest()[:32]


def metadata_of(info: object, program: Program) -> dict[str, str]:
    """A model's information as the names and texts that an ONNX file can hold: texts as they are, the rest as
    JSON. For images also their size, colour and layout, which deployers ask for."""
    known = info if isinstance(info, dict) else {}
    texts = {str(k): v if isinstance(v, str) else json.dumps(v, default=str) for k, v in known.items()}
    return {"written_by": product(), **_images(known, program), **texts}


def _images(info: dict[Any, Any], program: Program) -> dict[str, str]:
    shape = program.global_block().var(program.inputs[0]).spec.shape if program.inputs else ()
    spec = info.get("data_spec")
    kind = spec.get("kind") if isinstance(spec, dict) else "images" if "scaling" in info else ""
    if len(shape) != 4 or kind != "images":
        return {}
    sizes = ["any" if size < 0 else str(size) for size in shape[2:]]
    colors = {1: "grey", 3: "rgb"}
    found = {"layout": "NCHW", "size": "x".join(sizes)}
    return {**found, "color": colors[shape[1]]} if shape[1] in colors else found
