"""Recurrent layers over sequences of uneven lengths, their rows one after the other, and the gradients."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators import traits
from engine.core.operators.infer import require_floating, require_integers, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.ops.sequences.uneven import require_rows

if TYPE_CHECKING:
    from engine.kernels.cpu.uneven_recurrent import Steps

ACTIVATIONS = ("sigmoid", "tanh", "relu", "identity")
_SLOTS = {"x": "Input", "weight": "Weight", "bias": "Bias", "lengths": "Length", "h0": "H0", "c0": "C0"}


def _kernels() -> ModuleType:
    """The kernels, imported with the first run and not with the engine."""
    from engine.kernels.cpu import uneven_recurrent

    return uneven_recurrent


def _fits(shape: Any, wanted: Any) -> bool:
    return len(shape) == len(wanted) and all(
        a == b or -1 in (a, b) for a, b in zip(shape, wanted, strict=True)
    )


def _check(
    where: str,
    gates: int,
    x: Spec,
    weight: Spec,
    bias: Spec,
    lengths: Spec,
    widths: tuple[int, ...],
    **states: Any,
) -> int:
    """The size of a state. Raises ShapeError or DTypeError for inputs that do not fit one another."""
    require_floating(where, input=x)
    require_integers(where, lengths=lengths)
    size = max(weight.shape[0], weight.shape[-1] // gates)  # -1 where neither is known
    wide = gates * size if size >= 0 else -1
    if x.ndim != 2 or not _fits(weight.shape, (size, wide)) or not _fits(x.shape, (-1, wide)):
        raise ShapeError(
            f"{where}: (InvalidArgument) input is [rows, {gates} * size], the weight [size, {gates} * size]: "
            f"got input {x} and weight {weight}; an fc of {gates} * size makes the input"
        )
    if not any(_fits(bias.shape, (1, width * size if size >= 0 else -1)) for width in widths):
        wanted = " or ".join(str([1, width * size]) for width in widths)
        raise ShapeError(f"{where}: (InvalidArgument) bias must have shape {wanted}: got {bias}")
    given = {name: spec for name, spec in states.items() if spec is not None}
    require_same_dtype(where, input=x, weight=weight, bias=bias, **given)
    for name, spec in given.items():
        if not _fits(spec.shape, (-1, size)):
            raise ShapeError(f"{where}: (InvalidArgument) {name} must be [sequences, {size}]: got {spec}")
    return size


def _require_names(where: str, *names: str) -> None:
    for name in names:
        if name not in ACTIVATIONS:
            raise ArgumentError(
                f"{where}: (InvalidArgument) an activation is one of {', '.join(ACTIVATIONS)}: got {name!r}"
            )


def _walk(xp: Any, where: str, x: Any, lengths: Any, is_reverse: bool, *states: Any) -> Steps:
    require_rows(where, len(x), lengths)
    if any(state is not None and len(state) != len(lengths) for state in states):
        raise ShapeError(f"{where}: there are {len(lengths)} sequences; give as many first states")
    made: Steps = _kernels().Steps(xp, lengths, is_reverse)
    return made


def _infer_lstm(
    x: Spec, weight: Spec, bias: Spec, lengths: Spec, h0: Spec | None = None, c0: Spec | None = None, *,
    is_reverse: bool = False, activations: Any = (),
) -> tuple[Spec, ...]:  # fmt: skip
    size = _check("dynamic_lstm", 4, x, weight, bias, lengths, (4, 7), h_0=h0, c_0=c0)
    _require_names("dynamic_lstm", *activations)
    made = x.with_shape((x.shape[0], size))
    return made, made, x


# order(1): the gradient walks back through the steps in one operator.
@traits.order(1)
@op("dynamic_lstm", infer=_infer_lstm, outputs=("hidden", "cell", "gates"), slots=_SLOTS)
def dynamic_lstm(
    xp,
    x,
    weight,
    bias,
    lengths,
    h0=None,
    c0=None,
    *,
    is_reverse=False,
    activations=("sigmoid", "tanh", "tanh"),
):
    """Hidden and cell state of every row of x, which is multiplied by its weight already.

    ``bias`` has peepholes where it is [1, 7 * size]; ``activations`` are those of gates, cell and candidate.
    ``gates`` are for the gradient.
    """
    walk = _walk(xp, "dynamic_lstm", x, lengths, is_reverse, h0, c0)
    return _kernels().lstm(xp, x, weight, bias.reshape(-1), h0, c0, walk, tuple(activations))


@traits.order(0)
@op(
    "dynamic_lstm_grad",
    infer=lambda hidden, cell, gates, weight, bias, lengths, h0=None, c0=None, *_, **__: (
        gates,
        weight,
        bias,
        h0,
        c0,
    ),
    outputs=("g_x", "g_weight", "g_bias", "g_h0", "g_c0"),
    slots=_SLOTS,
)
def _lstm_grad(
    xp, hidden, cell, gates, weight, bias, lengths, h0=None, c0=None, g_h=None, g_c=None, *, is_reverse=False,
    activations=("sigmoid", "tanh", "tanh"),
):  # fmt: skip
    """The gradients of all inputs."""
    walk = _walk(xp, "dynamic_lstm", hidden, lengths, is_reverse, h0, c0)
    g_x, g_weight, g_bias, g_h0, g_c0 = _kernels().lstm_back(
        xp, weight, bias.reshape(-1), h0, c0, hidden, cell, gates, g_h, g_c, walk, tuple(activations)
    )
    first = (None if h0 is None else g_h0, None if c0 is None else g_c0)
    return g_x, g_weight, g_bias.reshape(bias.shape), *first


@dynamic_lstm.grad_all("x", "weight", "bias", "h0", "c0")
def _lstm_rule(
    g_hidden: Any, g_cell: Any, hidden: Any, cell: Any, gates: Any, weight: Any, bias: Any, lengths: Any,
    h0: Any, c0: Any, **attrs: Any,
) -> Any:  # fmt: skip
    return _lstm_grad(hidden, cell, gates, weight, bias, lengths, h0, c0, g_hidden, g_cell, **attrs)


def _infer_gru(
    x: Spec, weight: Spec, bias: Spec, lengths: Spec, h0: Spec | None = None, *, is_reverse: bool = False,
    origin_mode: bool = False, activations: Any = (),
) -> tuple[Spec, ...]:  # fmt: skip
    size = _check("dynamic_gru", 3, x, weight, bias, lengths, (3,), h_0=h0)
    _require_names("dynamic_gru", *activations)
    return x.with_shape((x.shape[0], size)), x


# order(1): the gradient walks back through the steps in one operator.
@traits.order(1)
@op("dynamic_gru", infer=_infer_gru, outputs=("hidden", "gates"), slots=_SLOTS)
def dynamic_gru(
    xp,
    x,
    weight,
    bias,
    lengths,
    h0=None,
    *,
    is_reverse=False,
    origin_mode=False,
    activations=("sigmoid", "tanh"),
):
    """The state of every row of x, which is multiplied by its weight already.

    ``weight`` [size, 3 * size] is memory of two matrices: [size, 2 * size] of update and reset gate, and
    [size, size] of the candidate. ``activations`` are those of gates and candidate; ``gates`` are for the
    gradient.
    """
    walk = _walk(xp, "dynamic_gru", x, lengths, is_reverse, h0)
    return _kernels().gru(xp, x, weight, bias.reshape(-1), h0, walk, tuple(activations), origin_mode)


@traits.order(0)
@op(
    "dynamic_gru_grad",
    infer=lambda hidden, gates, weight, bias, lengths, g_h, h0=None, **__: (gates, weight, bias, h0),
    outputs=("g_x", "g_weight", "g_bias", "g_h0"),
    slots=_SLOTS,
)
def _gru_grad(
    xp, hidden, gates, weight, bias, lengths, g_h, h0=None, *, is_reverse=False, origin_mode=False,
    activations=("sigmoid", "tanh"),
):  # fmt: skip
    """The gradients of all inputs."""
    walk = _walk(xp, "dynamic_gru", hidden, lengths, is_reverse, h0)
    g_x, g_weight, g_bias, g_h0 = _kernels().gru_back(
        xp, weight, h0, hidden, gates, g_h, walk, tuple(activations), origin_mode
    )
    return g_x, g_weight, g_bias.reshape(bias.shape), None if h0 is None else g_h0


@dynamic_gru.grad_all("x", "weight", "bias", "h0")
def _gru_rule(
    g_hidden: Any, hidden: Any, gates: Any, weight: Any, bias: Any, lengths: Any, h0: Any, **attrs: Any
) -> Any:
    return _gru_grad(hidden, gates, weight, bias, lengths, g_hidden, h0, **attrs)
