"""Linear maps with what follows them: bias, activation, experts."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError, UnsupportedError
from engine.nn import functional
from engine.program.build.calls import takes_name
from engine.tensor import linalg, manipulation, math, search
from engine.tensor.elements import scattering
from engine.tensor.tensor_like import AnyTensor


@takes_name
def fused_matmul_bias(
    x: AnyTensor,
    y: AnyTensor,
    bias: AnyTensor | None = None,
    transpose_x: bool = False,
    transpose_y: bool = False,
    name: str | None = None,
) -> Any:
    """x @ y, either transposed if wanted, plus the bias."""
    made = linalg.matmul(x, y, transpose_x, transpose_y)
    return made if bias is None else math.add(made, bias)


def fused_linear(
    x: AnyTensor,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    transpose_weight: bool = False,
    name: str | None = None,
) -> Any:
    """x @ weight + bias, the weight transposed if wanted."""
    return fused_matmul_bias(x, weight, bias, False, transpose_weight, name)


def fused_linear_activation(
    x: AnyTensor,
    y: AnyTensor,
    bias: AnyTensor | None,
    trans_x: bool = False,
    trans_y: bool = False,
    activation: str | None = None,
) -> Any:
    """activation(x @ y + bias), where it is 'gelu' (approximated by tanh), 'relu', 'none' or None."""
    made = fused_matmul_bias(x, y, bias, trans_x, trans_y)
    if activation in (None, "none"):
        return made
    if activation == "gelu":
        return functional.gelu(made, approximate=True)
    if activation == "relu":
        return functional.relu(made)
    raise ArgumentError(f"fused_linear_activation: activation is 'gelu', 'relu' or None: got {activation!r}")


def swiglu(x: AnyTensor, y: AnyTensor | None = None, name: str | None = None) -> Any:
    """silu(x) * y; the halves of the last dimension of ``x`` where ``y`` is not given."""
    if y is None:
        x, y = manipulation.chunk(x, 2, axis=-1)
    return math.multiply(functional.silu(x), y)


TOKENS_PER_PLACE = 16  # an expert takes one of so many tokens


def fused_ec_moe(
    x: AnyTensor,
    gate: AnyTensor,
    bmm0_weight: AnyTensor,
    bmm0_bias: AnyTensor,
    bmm1_weight: AnyTensor,
    bmm1_bias: AnyTensor,
    act_type: str,
) -> Any:
    """Experts that choose their tokens: Zhou et al., Mixture-of-experts with expert choice routing (2022).

    Each expert takes the length // 16 tokens of each sequence with the highest logits, maps them by two
    linear layers, and adds what comes out, times the token's probability of that expert, to the token.

    Args:
        x: [batch, length, size].
        gate: logits of the experts for each token, [batch, length, experts].
        bmm0_weight, bmm0_bias: of the first layer, [experts, size, inner] and [experts, 1, inner].
        bmm1_weight, bmm1_bias: of the second one, [experts, inner, size] and [experts, 1, size].
        act_type: 'gelu' or 'relu'.
    """
    if act_type not in ("gelu", "relu"):
        raise UnsupportedError(f"fused_ec_moe: Currently only support `gelu`, `relu`. got {act_type!r}")
    if x.ndim != 3 or gate.ndim != 3:
        raise ShapeError(
            f"fused_ec_moe: x and gate have three dimensions: got {list(x.shape)} and {list(gate.shape)}"
        )
    length, size = x.shape[1], x.shape[2]
    experts, places = gate.shape[2], length // TOKENS_PER_PLACE
    if places == 0:
        return math.scale(x)
    by_expert = manipulation.transpose(gate, [0, 2, 1])
    chosen = search.topk(by_expert, places, axis=-1)[1]  # [batch, experts, places]
    probabilities = manipulation.transpose(functional.softmax(gate, axis=-1), [0, 2, 1])
    shares = scattering.take_along_axis(probabilities, chosen, 2)
    flat = manipulation.reshape(chosen, [x.shape[0], -1, 1])
    places_of = manipulation.expand(flat, [x.shape[0], experts * places, size])
    tokens = scattering.take_along_axis(x, places_of, 1)
    tokens = manipulation.reshape(tokens, [-1, experts, places, size])
    inner = linalg.matmul(tokens, bmm0_weight) + bmm0_bias
    made = linalg.matmul(getattr(functional, act_type)(inner), bmm1_weight) + bmm1_bias
    weighted = manipulation.reshape(made * manipulation.unsqueeze(shares, -1), [x.shape[0], -1, size])
    return scattering.put_along_axis(x, places_of, weighted, 1, reduce="add")
