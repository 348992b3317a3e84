"""ONNX files as the content of a saved model."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from engine.core.errors import DataError, EngineError, FormatError
from engine.eager.tensor import Tensor
from engine.files.inference import InferenceFiles
from engine.files.plain import StrPath
from engine.files.untrusted import guarded
from engine.jit.export import described_model, layer_of
from engine.jit.saved import model_files
from engine.jit.translated_layer import TranslatedLayer
from engine.onnx.check_fields import check_fields
from engine.onnx.extra import onnx_package
from engine.onnx.read_model import read_model
from engine.program.graph.program import Program
from resources.regular_files import open_regular

CHILD = Path(__file__).with_name("guarded_child.py")
PACKAGES = ("numpy", "h5py", "onnx")
KIND = "onnx"
LARGEST = (1 << 31) - 1  # bytes of a message of protobuf
MOST_METADATA = 1 << 16  # letters of one text that is read as JSON


def load(path: StrPath) -> TranslatedLayer:
    """The model of an ONNX file as a Layer: it predicts, can be trained further, saved and exported again.

    Its float weights are parameters; its modes switch batch norms. Raises DataError for a file that can't be
    read, FormatError for a damaged one or one with operators that can't be read, and
    MissingExtraError without the extra ``onnx``.
    """
    return layer_of(read_onnx(path))


@model_files.read_onnx.define
def read_onnx(path: StrPath) -> InferenceFiles:
    """Read an ONNX file. A child process with limits reads it first. Raises as :func:`load`."""
    place = Path(path)
    content = read_content(place)
    onnx_package()
    digest = hashlib.sha256(content).digest()
    guarded.check_by(CHILD, PACKAGES, place, KIND, digest, len(content))
    model = _message(content, place)
    del content  # which is as large as the weights
    return _files(model, digest, place)


def read_content(path: Path) -> bytes:
    """The bytes of the file, whose fields are counted. Raises DataError and FormatError."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > LARGEST:
                raise FormatError(f"{path}: over 2 GB, which no ONNX file can have; use a smaller model")
            content: bytes = file.read(size)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: can't be read: {error}") from error
    check_fields(content, str(path))
    return content


def parse(content: bytes, path: Path) -> InferenceFiles:
    """The content of a saved model from the bytes of a file. Raises FormatError."""
    return _files(_message(content, path), hashlib.sha256(content).digest(), path)


def _message(content: bytes, path: Path) -> Any:
    model = onnx_package().ModelProto()
    try:
        model.ParseFromString(content)
    except Exception as error:  # DecodeError, a class of protobuf
        raise FormatError(f"{path}: not a sound ONNX file: {error!s:.200}; get it again") from None
    return model


def _files(model: Any, digest: bytes, path: Path) -> InferenceFiles:
    try:
        program = read_model(model)
        info = information_of({each.key: each.value for each in model.metadata_props})
    except FormatError as error:
        raise FormatError(f"{path}: {_line(error)}") from None
    except (EngineError, RecursionError) as error:
        raise FormatError(f"{path}: it can't be read: {_line(error)}") from None
    return files_of(program, info, digest.hex()[:32], path)


def files_of(program: Program, info: object, save_id: str, path: Path) -> InferenceFiles:
    """A Program with its weights as the content of a saved model of another program."""
    names: dict[int, str] = {}
    for variable in program.bound():
        assert isinstance(variable.tensor, Tensor)
        names[id(variable.tensor)] = variable.name
    plain, weights, described = described_model(program, {}, names, info)
    for block in plain["blocks"]:
        for operator in block["ops"]:  # whose line would be that of the call that loads the file
            operator["file"] = operator["line"] = None
    return InferenceFiles(plain, weights, described, save_id, path, own=False, single=True)


def information_of(texts: dict[str, str]) -> dict[str, Any]:
    """Metadata as the information of a model: texts, and lists and numbers where they are JSON."""
    return {key: _value(text) for key, text in texts.items()}


def _value(text: str) -> Any:
    if text[:1] not in "[{0123456789-tfn" or len(text) > MOST_METADATA:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _line(error: BaseException) -> str:
    message = error.message if isinstance(error, EngineError) else str(error)
    return " ".join(message.split())[:600]
