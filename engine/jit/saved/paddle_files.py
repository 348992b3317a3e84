"""Models that Paddle saved, as InferenceFiles: what ``jit.load`` and all that reads saved models take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.files.inference import InferenceFiles
from engine.files.paddle.model import PaddleModel, read_paddle_model
from engine.program.saved.paddle.read_program import read_program
from engine.program.saved.plain_program import PlainProgram, PlainVariable


def read_paddle(place: Path) -> InferenceFiles:
    """Read ``PREFIX.pdmodel`` and ``.pdiparams``, or an older Program file with its weights next to it.

    The Program is one of another installation: its size is limited, and so are the resources of its runs.

    Raises:
        DataError: a file is missing or can't be read.
        FormatError: damaged, or with an operator that does not exist here; the message names the file.
    """
    model = read_paddle_model(place)
    kinds = {name: (each.parameter, each.stop_gradient) for name, each in model.information.items()}
    program = read_program(model.program, model.weights, kinds, model.path)
    single = model.path == place
    return InferenceFiles(
        program, model.weights, _information(program, model), model.save_id, place, own=False, single=single
    )


def _information(program: PlainProgram, model: PaddleModel) -> dict[str, Any]:
    """The information on a model, as ``write_model`` stores it."""
    variables = {v["name"]: v for v in program["blocks"][0]["vars"]}
    names = {name: each.structured_name for name, each in model.information.items()}
    return {
        "inputs": [_described(variables[name]) for name in program["inputs"]],
        "outputs": [_described(variables[name]) for name in program["outputs"]],
        "variables": {
            name: {
                "shape": variables[name]["shape"],
                "dtype": variables[name]["dtype"],
                "parameter": variables[name]["parameter"],
                "stop_gradient": variables[name]["stop_gradient"],
                "structured_name": names.get(name, name),
            }
            for name in model.weights
        },
        "info": {},
    }


def _described(variable: PlainVariable) -> dict[str, Any]:
    return {name: variable[name] for name in ("name", "shape", "dtype")}
