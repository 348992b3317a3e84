"""Paddle's ``inference``: predictors that run saved models."""

from engine.inference.config import Config
from engine.inference.engines import XpuConfig
from engine.inference.handle import Tensor
from engine.inference.kinds import DataType, PlaceType, PrecisionType, get_num_bytes_of_data_type
from engine.inference.precision import convert_to_mixed_precision
from engine.inference.predictor import (
    Predictor,
    PredictorPool,
    create_predictor,
    get_trt_compile_version,
    get_trt_runtime_version,
    get_version,
)

__all__ = [
    "Config",
    "DataType",
    "PlaceType",
    "PrecisionType",
    "Predictor",
    "PredictorPool",
    "Tensor",
    "XpuConfig",
    "convert_to_mixed_precision",
    "create_predictor",
    "get_num_bytes_of_data_type",
    "get_trt_compile_version",
    "get_trt_runtime_version",
    "get_version",
]
