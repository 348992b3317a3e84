"""What is said where a script asks for trained weights."""

from __future__ import annotations

from engine.core.errors import ArgumentError


def refuse_pretrained(name: str, pretrained: bool) -> None:
    """Raise ArgumentError if trained weights are asked for.

    Differs from Paddle: nothing is downloaded, and the weights that Paddle publishes are pickled files, which
    are not read here.
    """
    if pretrained:
        raise ArgumentError(
            f"{name}: there are no trained weights: got pretrained=True, and Paddle's are pickled files, not "
            f"read here; make {name}() and load a file that paddle.save of this engine wrote: "
            'net.set_state_dict(paddle.load("weights.pdparams"))'
        )
