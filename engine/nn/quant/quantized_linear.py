"""Linear layers whose weight is stored as integers: of 8 bits, or of 4 bits, two in a byte.

Paddle has these for CUDA only, and lays the integers out as a kernel of the GPU reads them. Here a row of the
quantized weight is an output, and a 4-bit byte holds the outputs 2 n (low half) and 2 n + 1 (high half).
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ConditionError, ShapeError
from engine.core.values.dtype import as_dtype
from engine.tensor import linalg, manipulation, math
from engine.tensor.creation import zeros_like
from engine.tensor.reductions import reduction
from engine.tensor.search import where as where_
from engine.tensor.tensor_like import AnyTensor, DTypeLike

_ALGOS = ("weight_only_int8", "weight_only_int4", "llm.int8")
_ARCHITECTURES = (70, 75, 80, 86)


def _bits(where: str, name: str, value: str, four: str) -> int:
    known = _ALGOS if name == "algo" else ("int8", "int4")
    if value not in known:
        raise ArgumentError(f"{where}: {name} is one of {', '.join(known)}: got {value!r}")
    return 4 if value == four else 8


def _check_arch(where: str, arch: Any) -> None:
    """Raise ConditionError for a GPU that Paddle refuses; None is this computer."""
    if arch is not None and arch not in _ARCHITECTURES:
        raise ConditionError(
            f"{where}: arch is one of {', '.join(map(str, _ARCHITECTURES))}: got {arch}; it changes nothing "
            "here, leave it out"
        )


def _require_matrix(where: str, name: str, x: Any) -> None:
    if len(x.shape) != 2:
        raise ShapeError(f"{where}: {name} has 2 dimensions: got {list(x.shape)}; reshape it")


def _unpacked(weight: Any, bits: int) -> Any:
    """The integers of a quantized weight, [outputs, inputs] in float32."""
    if bits == 8:
        return weight.astype("float32")
    whole = weight.astype("int32")
    low = (whole + 8) % 16 - 8
    high = (whole - whole % 16) // 16
    both = manipulation.stack([low, high], axis=1)
    return manipulation.reshape(both, [-1, weight.shape[1]]).astype("float32")


def weight_quantize(x: AnyTensor, algo: str = "weight_only_int8", arch: int | None = None) -> tuple[Any, Any]:
    """A weight [inputs, outputs] as integers [outputs, inputs], int8, and what one level is worth [outputs].

    ``algo`` "weight_only_int4" packs two outputs in a byte: [outputs / 2, inputs]. Levels are float32: the
    largest absolute value of an output divided by 127, or by 7. Raises ArgumentError, ConditionError,
    ShapeError.

    Differs from Paddle: it works on a CPU too; the integers lie row by row, not as a GPU reads them, so
    ``arch`` changes nothing.
    """
    bits = _bits("weight_quantize", "algo", algo, "weight_only_int4")
    _check_arch("weight_quantize", arch)
    _require_matrix("weight_quantize", "x", x)
    if bits == 4 and x.shape[1] % 2:
        raise ShapeError(
            f"weight_quantize: 4 bits need an even number of outputs: got {list(x.shape)}; use "
            "weight_only_int8"
        )
    most = 2 ** (bits - 1) - 1
    weight = manipulation.transpose(x.astype("float32"), [1, 0])
    level = reduction.max(math.abs(weight), axis=1) / most
    divided = weight / manipulation.unsqueeze(where_(level == 0.0, level + 1.0, level), 1)
    whole = math.clip(math.round(divided), -most, most)
    if bits == 4:
        pairs = manipulation.reshape(whole, [x.shape[1] // 2, 2, x.shape[0]]).astype("int32")
        whole = pairs[:, 0] % 16 + 16 * pairs[:, 1]
    return whole.astype("int8"), level


def weight_dequantize(
    x: AnyTensor, scale: AnyTensor, algo: str = "weight_only_int8", out_dtype: DTypeLike = "float16"
) -> Any:
    """The weight [inputs, outputs] in ``out_dtype`` that ``weight_quantize`` made integers and levels of.

    Differs from Paddle: it works on a CPU too; ``out_dtype`` is any floating dtype.
    """
    bits = _bits("weight_dequantize", "algo", algo, "weight_only_int4")
    _require_matrix("weight_dequantize", "x", x)
    kind = as_dtype(out_dtype)
    if not kind.is_floating_point:
        raise ArgumentError(
            f"weight_dequantize: out_dtype is a floating one: got {out_dtype!r}; use 'float16'"
        )
    values = _unpacked(x, bits) * manipulation.unsqueeze(scale.astype("float32"), 1)
    return manipulation.transpose(values, [1, 0]).astype(kind)


def weight_only_linear(
    x: AnyTensor,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    weight_scale: AnyTensor | None = None,
    weight_dtype: str = "int8",
    arch: int | None = None,
) -> Any:
    """x [..., inputs] times a quantized weight, plus ``bias`` [outputs], in x's dtype.

    ``weight`` and ``weight_scale`` are those of ``weight_quantize``; ``weight_dtype`` "int4" for 4 bits. The
    product is computed in float32 and each output multiplied by its level then.

    Differs from Paddle: it works on a CPU too; x is of any floating dtype; ``arch`` changes nothing.
    """
    where = "weight_only_linear"
    bits = _bits(where, "weight_dtype", weight_dtype, "int4")
    _check_arch(where, arch)
    return _linear(where, x, weight, bits, weight_scale, bias)


def _linear(where: str, x: Any, weight: Any, bits: int, level: Any, bias: Any, given: Any = None) -> Any:
    """The product in float32, its levels, the bias, x's dtype; ``given`` is used in place of x's values."""
    _require_matrix(where, "weight", weight)
    if level is None:
        raise ArgumentError(f"{where}: weight_scale is missing: pass the second result of weight_quantize")
    if x.shape[-1] != weight.shape[1]:
        raise ShapeError(
            f"{where}: x has {x.shape[-1]} inputs and the weight {weight.shape[1]}: got {list(x.shape)} and "
            f"{list(weight.shape)}; the weight is [outputs, inputs]"
        )
    values = x.astype("float32") if given is None else given
    found = linalg.matmul(values, _unpacked(weight, bits), transpose_y=True) * level.astype("float32")
    if bias is not None:
        found = found + bias.astype("float32")
    return found.astype(x.dtype)


def llm_int8_linear(
    x: AnyTensor,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    weight_scale: AnyTensor | None = None,
    threshold: float = 6.0,
) -> Any:
    """x [..., inputs] times an int8 weight, with x in 8 bits too but for its inputs with large values.

    Inputs whose absolute value is above ``threshold`` anywhere count as they are; each row of the others is
    rounded to 127 levels on each side ("LLM.int8()", Dettmers and others, 2022). Arguments and result as of
    ``weight_only_linear``.

    Differs from Paddle: it works on a CPU too; x is of any floating dtype.
    """
    values = x.astype("float32")
    axes = list(range(len(x.shape) - 1))
    size = math.abs(values)
    outlier = (reduction.max(size, axis=axes) if axes else size) > threshold
    plain = where_(outlier, zeros_like(values), values)
    level = reduction.max(math.abs(plain), axis=-1, keepdim=True) / 127.0
    level = where_(level == 0.0, level + 1.0, level)
    rounded = math.round(plain / level) * level
    return _linear("llm_int8_linear", x, weight, 8, weight_scale, bias, where_(outlier, values, rounded))
