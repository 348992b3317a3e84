"""What saved inference files hold, as plain values; nothing in them is run and no weight is read."""

from __future__ import annotations

from typing import Any


def describe_model(prefix: str) -> dict[str, Any]:
    """Inputs, outputs, classes, scaling, operators and sizes of the model saved under ``prefix``.

    Raises:
        DataError, FormatError: a file is absent, damaged, foreign, or of another save than the others.
    """
    from engine.files.inference import describe_inference, inference_paths

    described = describe_inference(prefix)
    program = described.program
    paths = inference_paths(described.prefix)
    return {
        "prefix": str(described.prefix), "save_id": described.save_id,
        "sizes": {paths[suffix].name: size for suffix, size in described.sizes.items()},
        "info": described.info, "program": program,
    }  # fmt: skip
