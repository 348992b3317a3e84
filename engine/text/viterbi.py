"""Decoding of tag sequences whose scores depend on pairs of neighbours, as a conditional random field's."""

from __future__ import annotations

from typing import Any

from engine.nn.layer.layers import Layer
from engine.ops.sequences import viterbi
from engine.program.build.calls import takes_name
from engine.tensor.tensor_like import AnyTensor


@takes_name
def viterbi_decode(
    potentials: AnyTensor,
    transition_params: AnyTensor,
    lengths: AnyTensor,
    include_bos_eos_tag: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The highest score of each sequence [batch], and its tags [batch, longest length].

    Args:
        potentials: the score of each tag at each time, float32 or float64 [batch, time, tags].
        transition_params: the score of tag j after tag i, [tags, tags].
        lengths: of the sequences, int64 [batch]; tags behind the end are 0.
        include_bos_eos_tag: the last tag stands for the start of a sequence, the one before it for its end.
        name: of the results in a Program.
    """
    scores, path = viterbi.viterbi_decode(
        potentials, transition_params, lengths, include_bos_eos_tag=bool(include_bos_eos_tag)
    )
    return scores, path


class ViterbiDecoder(Layer):
    """``viterbi_decode`` with the transition scores [tags, tags] that it is made with."""

    def __init__(
        self, transitions: AnyTensor, include_bos_eos_tag: bool = True, name: str | None = None
    ) -> None:
        super().__init__()
        self.transitions = transitions
        self.include_bos_eos_tag = include_bos_eos_tag
        self.name = name

    def forward(self, potentials: AnyTensor, lengths: AnyTensor) -> tuple[Any, Any]:
        """The highest scores and their tags."""
        return viterbi_decode(potentials, self.transitions, lengths, self.include_bos_eos_tag, self.name)
