"""``LayerHelper``: what a script's own layer asks of fluid."""

from __future__ import annotations

from typing import Any

from engine.fluid.layers.adapting import activated

__all__ = ["LayerHelper"]


class LayerHelper:
    """Keeps a layer's arguments; ``act`` is the name of its activation."""

    def __init__(self, layer_type: str, **kwargs: Any) -> None:
        self.layer_type = layer_type
        self.kwargs = kwargs

    def append_activation(self, input_var: Any) -> Any:
        """``act`` of ``input_var``; itself without one."""
        act = self.kwargs.get("act")
        if isinstance(act, dict):
            act = act.get("type")
        return activated(input_var, act)
