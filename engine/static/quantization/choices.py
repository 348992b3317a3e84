"""The quantization arguments of Paddle's functions, checked, as the options of this engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.core.operators.operator import Operator
from engine.program.passes.quantization.quantizable import TABLE

ACTIVATION_TYPES = ("range_abs_max", "moving_average_abs_max", "abs_max")
ALGORITHMS: Mapping[str, str] = {
    "KL": "paddle_KL",
    **{name: name for name in ("hist", "avg", "mse", "emd", "abs_max", "min_max", "ptf")},
}
"""Paddle's names of the algorithms, and what they are called in QuantizeOptions."""
WEIGHT_TYPES = ("abs_max", "channel_wise_abs_max")
ROUNDS = ("round", "adaround")

BACKENDS: Mapping[str | None, tuple[str, ...]] = {
    None: (),
    "tensorrt": (
        "pool2d",
        "elementwise_add",
        "elementwise_sub",
        "elementwise_mul",
        "concat",
        "softmax",
        "reduce_mean",
        "relu",
        "relu6",
        "leaky_relu",
        "tanh",
        "swish",
        "sigmoid",
    ),
    "mkldnn": ("pool2d", "elementwise_add", "elementwise_mul", "concat"),
    "arm": (),
}
"""What each of Paddle's deploy backends quantizes besides products, of the operators available here."""

CONFIG: Mapping[str, Any] = {
    "weight_quantize_type": "channel_wise_abs_max",
    "activation_quantize_type": "moving_average_abs_max",
    "weight_bits": 8,
    "activation_bits": 8,
    "not_quant_pattern": ["skip_quant"],
    "quantize_op_types": ["conv2d", "depthwise_conv2d", "mul"],
    "dtype": "int8",
    "window_size": 10000,
    "moving_rate": 0.9,
    "for_tensorrt": False,
    "is_full_quantize": False,
    "onnx_format": True,
    "quant_post_first": False,
    "scale_trainable": True,
    "deploy_backend": None,
}
"""The config of ``quant_aware`` and ``convert``, with Paddle's defaults."""

FULL = tuple(name for name, entry in TABLE.items() if entry.values and not name.endswith("_fusion"))
"""What ``is_full_quantize`` means: every operator that can be quantized."""

_TENSORRT = ("mul", "conv2d", "pool2d", "depthwise_conv2d", "elementwise_add", "leaky_relu")
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "weight_bits": int,
    "activation_bits": int,
    "not_quant_pattern": (list, str),
    "quantize_op_types": list,
    "window_size": int,
    "moving_rate": float,
    "for_tensorrt": bool,
    "is_full_quantize": bool,
    "onnx_format": bool,
    "quant_post_first": bool,
    "scale_trainable": bool,
}


def config_of(where: str, given: dict[str, Any] | None) -> dict[str, Any]:
    """``CONFIG`` with what is given, ``quantize_op_types`` as they follow from it.

    Raises DTypeError for a value of another type, ArgumentError for one out of its range or an unknown key.
    """
    if given is not None and not isinstance(given, dict):
        raise DTypeError(
            f"{where}: config must be a dict: got {type(given).__name__}; its keys are {', '.join(CONFIG)}"
        )
    config = {**CONFIG, **(given or {})}
    for key in config:
        if key not in CONFIG:
            raise ArgumentError(f"{where}: config has {key!r}: its keys are {', '.join(CONFIG)}")
    for key, kind in _KINDS.items():
        value = config[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise DTypeError(
                f"{where}: config[{key!r}] is {value!r}: {type(value).__name__} is not a {_named(kind)}"
            )
    types = WEIGHT_TYPES + ACTIVATION_TYPES
    one_of(where, "weight_quantize_type", config["weight_quantize_type"], dict.fromkeys(types))
    one_of(where, "activation_quantize_type", config["activation_quantize_type"], dict.fromkeys(types))
    one_of(where, "dtype", config["dtype"], ("int8",))
    for key in ("weight_bits", "activation_bits"):
        if not 2 <= config[key] <= 16:
            raise ArgumentError(f"{where}: config[{key!r}] must be 2 to 16: got {config[key]}; use 8")
    if config["for_tensorrt"]:
        wanted: Sequence[str] = _TENSORRT
    elif config["is_full_quantize"]:
        wanted = FULL
    else:
        wanted = config["quantize_op_types"]
    config["quantize_op_types"] = list(op_types(where, wanted, config["deploy_backend"]))
    return config


def op_types(where: str, wanted: Sequence[str], backend: str | None = None) -> tuple[str, ...]:
    """The operators to quantize: ``wanted``, and what a deploy backend adds.

    Raises ArgumentError for others.
    """
    known = (*TABLE, "matmul", "lookup_table")
    for name in wanted:
        one_of(where, "an operator to quantize", name, known)
    key = backend.lower() if isinstance(backend, str) else backend
    one_of(where, "deploy_backend", key or None, BACKENDS)
    return tuple(dict.fromkeys((*wanted, *BACKENDS[key or None])))


def one_of(where: str, name: str, value: object, allowed: Collection[object]) -> None:
    """Raise ArgumentError where ``value`` is not among ``allowed``."""
    if value not in allowed:
        raise ArgumentError(f"{where}: {name} is {value!r}: choose from {', '.join(map(str, allowed))}")


def in_name_scope(operator: Operator, patterns: Sequence[str]) -> bool:
    """Whether an operator was made in a name scope with one of these texts."""
    scope = (operator.notes or {}).get("attrs", {}).get("op_namescope", "/")
    return any(pattern in scope for pattern in patterns)


def _named(kind: type | tuple[type, ...]) -> str:
    return " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
