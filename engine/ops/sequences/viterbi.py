"""The best path through the tags of a sequence, whose scores depend on pairs of neighbours."""

from __future__ import annotations

from typing import Any

from engine.core.errors import DTypeError, OutOfRangeError, ShapeError
from engine.core.operators.infer import require_integers, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.dtype import int64
from engine.core.values.spec import Spec


def _check_shapes(potentials: Any, transition: Any, lengths: Any) -> None:
    """Check Specs or arrays; an unknown dimension fits all."""
    batch, tags = (potentials.shape[0], potentials.shape[-1]) if potentials.ndim == 3 else (0, 0)
    wanted = (*((size, tags) for size in transition.shape), *((size, batch) for size in lengths.shape))
    if (potentials.ndim, transition.ndim, lengths.ndim) != (3, 2, 1) or any(
        -1 not in pair and pair[0] != pair[1] for pair in wanted
    ):
        raise ShapeError(
            "viterbi_decode: potentials are [batch, time, tags], transition_params [tags, tags], lengths "
            f"[batch]: got {list(potentials.shape)}, {list(transition.shape)} and {list(lengths.shape)}"
        )


def _infer(
    potentials: Spec, transition: Spec, lengths: Spec, *, include_bos_eos_tag: bool = True
) -> tuple[Spec, Spec]:
    dtype = require_same_dtype("viterbi_decode", potentials=potentials, transition_params=transition)
    require_integers("viterbi_decode", lengths=lengths)
    if dtype.name not in ("float32", "float64"):
        raise DTypeError(f"viterbi_decode: potentials must be float32 or float64: got {potentials}; cast it")
    _check_shapes(potentials, transition, lengths)
    batch = potentials.shape[0]
    return Spec((batch,), dtype), Spec((batch, -1), int64)


@op(
    "viterbi_decode",
    infer=_infer,
    outputs=("scores", "path"),
    slots={"potentials": "Input", "transition": "Transition", "lengths": "Length"},
)
def viterbi_decode(xp, potentials, transition, lengths, *, include_bos_eos_tag=True):
    """The highest scores [batch] and their tags [batch, longest length], 0 behind the end of a sequence.

    With ``include_bos_eos_tag`` the last tag is the start of a sequence and the one before it its end.
    """
    _check_shapes(potentials, transition, lengths)
    batch, time, _ = potentials.shape
    longest = int(lengths.max()) if lengths.size else 0
    if longest > time or (lengths.size and int(lengths.min()) < 0):
        raise OutOfRangeError(
            f"viterbi_decode: lengths must be 0 to {time}, the time of potentials: got {lengths.tolist()}"
        )
    alpha = potentials[:, 0] + 0
    if include_bos_eos_tag:
        alpha = alpha + transition[-1]
        alpha = xp.where(lengths[:, None] == 1, alpha + transition[-2], alpha)
    history = []
    for t in range(1, longest):
        sums = alpha[:, :, None] + transition[None]
        history.append(sums.argmax(1))
        following = sums.max(1) + potentials[:, t]
        if include_bos_eos_tag:
            following = xp.where(lengths[:, None] == t + 1, following + transition[-2], following)
        alpha = xp.where(lengths[:, None] > t, following, alpha)
    path = xp.zeros((batch, longest), "int64")
    tag = alpha.argmax(1)
    for t in range(longest - 1, -1, -1):
        if t < longest - 1:
            before = xp.take_along_axis(history[t], tag[:, None], axis=1)[:, 0]
            tag = xp.where(lengths > t + 1, before, tag)
        path[:, t] = xp.where(lengths > t, tag, 0)
    return alpha.max(1), path
