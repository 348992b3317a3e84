"""Paddle's ``static.io``: the functions that save and load static graphs."""

from engine.static.inference_files import (
    deserialize_persistables,
    deserialize_program,
    load_from_file,
    load_inference_model,
    normalize_program,
    save_inference_model,
    save_to_file,
    serialize_persistables,
    serialize_program,
)
from engine.static.state_files import load, load_program_state, save, set_program_state

__all__ = [
    "deserialize_persistables",
    "deserialize_program",
    "load",
    "load_from_file",
    "load_inference_model",
    "load_program_state",
    "normalize_program",
    "save",
    "save_inference_model",
    "save_to_file",
    "serialize_persistables",
    "serialize_program",
    "set_program_state",
]
