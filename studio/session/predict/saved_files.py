"""What saved inference files hold, as plain values; nothing in them is run and no weight is read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from studio.session.predict.info_file_check import checked_information

if TYPE_CHECKING:
    from engine.files.inference import InferenceDescription


def describe_model(prefix: str) -> dict[str, Any]:
    """Inputs, outputs, classes, operators and sizes of the model saved under ``prefix``.

    Returns:
        ``prefix``, ``save_id``, ``sizes`` (bytes by file name), ``inputs`` and ``outputs`` (name, shape,
        dtype), ``parameters`` (how many numbers), ``info`` (what was recorded with the model), ``blocks``
        (how many), ``operators`` of the first block (type, inputs, outputs, shape of the first output),
        ``quantization``, the report of a quantized model, None for others, and ``refusal``, why the model
        can't be loaded, None where it can.

    Raises:
        DataError, FormatError: a file is absent, damaged, foreign, or of another save than the others.
    """
    from engine.core.errors import FormatError
    from engine.files.inference import INFO
    from engine.jit.saved.model_files import describe_model_files
    from engine.quantization.report import KEY, stored_report

    described = describe_model_files(prefix)
    place = described.file_of(INFO)
    try:
        info, added = checked_information(described.info, place)
        report = stored_report(added, place)
        blocks = described.program["blocks"]
        shapes = {variable["name"]: variable["shape"] for variable in blocks[0]["vars"]}
        return {
            "prefix": str(described.prefix),
            "save_id": described.save_id,
            "sizes": described.sizes,
            "inputs": info["inputs"],
            "outputs": info["outputs"],
            "parameters": sum(math.prod(v["shape"]) for v in info["variables"].values() if _is_weight(v)),
            "info": {name: value for name, value in added.items() if name != KEY},
            "quantization": None if report is None else report.to_plain(),
            "blocks": len(blocks),
            "refusal": _refusal(described),
            "operators": [_operator(operator, shapes) for operator in blocks[0]["ops"]],
        }
    except (LookupError, TypeError, AttributeError) as error:
        raise FormatError(
            f"{described.prefix}: not a saved model: {type(error).__name__} at {error}; save the model again"
        ) from error


def _refusal(described: InferenceDescription) -> str | None:
    """The error of loading the Programs of a described model; None where there is none."""
    from engine.core.errors import FormatError
    from engine.files.inference import InferenceFiles
    from engine.jit.export import programs_of
    from engine.jit.saved.model_files import is_own_model

    own = is_own_model(described.prefix)
    program = dict(described.program)  # its methods are taken out
    try:
        programs_of(
            InferenceFiles(
                program, {}, described.info, described.save_id, described.prefix, own, described.single
            )
        )
    except FormatError as error:
        return str(error)
    return None


def _is_weight(variable: dict[str, Any]) -> bool:
    """Whether it was trained; those of quantized layers are integers now, and no parameters any more."""
    return bool(variable["parameter"]) or variable["dtype"] in ("int8", "int16")


def _operator(operator: dict[str, Any], shapes: dict[str, Any]) -> dict[str, Any]:
    outputs = [name for names in operator["outputs"].values() for name in names]
    return {
        "type": operator["type"],
        "inputs": [name for names in operator["inputs"].values() for name in names],
        "outputs": outputs,
        "shape": shapes.get(outputs[0]) if outputs else None,
    }
