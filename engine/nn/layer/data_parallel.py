"""DataParallel: the layer that Paddle's scripts wrap their network in; here for one process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, ModeError
from engine.nn.layer.layers import Layer


class DataParallel(Layer):
    """Runs ``layers``; its parameters, state and results are theirs.

    Differs from Paddle: training in several processes is not there yet: where ``PADDLE_TRAINERS_NUM`` says
    that there are more than one, it raises; and with one process it does not warn.

    Raises:
        DTypeError: ``layers`` is not a Layer.
        ModeError: a Program is being built.
        ArgumentError: several processes.
    """

    def __init__(
        self,
        layers: Layer,
        strategy: Any = None,
        comm_buffer_size: float = 25,
        last_comm_buffer_size: float = 1,
        find_unused_parameters: bool = False,
        group: Any = None,
    ) -> None:
        if not isinstance(layers, Layer):
            raise DTypeError(f"DataParallel: layers must be a Layer: got {type(layers).__name__}")
        if modes.is_static():
            raise ModeError("DataParallel: a Program is being built: call disable_static() first")
        count = os.environ.get("PADDLE_TRAINERS_NUM", "1")
        if count != "1":
            raise ArgumentError(
                f"DataParallel: it trains in one process: PADDLE_TRAINERS_NUM is {count!r}; start one alone"
            )
        super().__init__(layers.full_name() + "_data_parallel")
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters
        self.grad_need_sync = True
        self.group = group

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self._layers(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within the block gradients are only added up, not exchanged between processes."""
        before, self.grad_need_sync = self.grad_need_sync, False
        try:
            yield
        finally:
            self.grad_need_sync = before

    def scale_loss(self, loss: Any) -> Any:
        """``loss`` itself (kept for older scripts)."""
        return loss

    def apply_collective_grads(self) -> None:
        """Nothing (kept for older scripts)."""

    def state_dict(
        self,
        destination: Any = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
    ) -> Any:
        """That of the wrapped layers, under their own names."""
        return self._layers.state_dict(destination, include_sublayers, structured_name_prefix, use_hook)

    def set_state_dict(self, state_dict: Any, use_structured_name: bool = True) -> Any:
        """That of the wrapped layers."""
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict
