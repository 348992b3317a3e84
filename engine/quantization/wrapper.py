"""ObserveWrapper: a layer with a quanter before it."""

from __future__ import annotations

from typing import Any

from engine.nn.layer.layers import Layer


class ObserveWrapper(Layer):
    """``observed`` and the quanter of its input, or of its output with ``observe_input=False``."""

    def __init__(self, observer: Layer | None, observed: Layer, observe_input: bool = True) -> None:
        super().__init__()
        self._observer: Any = observer
        self._observed = observed
        self._observe_input = observe_input

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        if self._observe_input:
            return self._observed(self._observer(*inputs, **kwargs), **kwargs)
        return self._observer(self._observed(*inputs, **kwargs), **kwargs)
