"""Pooling of sparse tensors as a layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.eager.sparse import Sparse
from engine.nn.functional.windows import Padding
from engine.nn.layer.layers import Layer
from engine.sparse.nn import functional


class MaxPool3D(Layer):
    """The largest stored elements in windows; see ``paddle.sparse.nn.functional.max_pool3d``."""

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: Padding = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NDHWC",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.return_mask = return_mask
        self.ceil_mode = ceil_mode
        self.data_format = data_format
        self.name = name

    def forward(self, x: Sparse) -> Any:
        return functional.max_pool3d(
            x, self.ksize, self.stride, self.padding, self.ceil_mode, self.data_format, self.name
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.ksize}, stride={self.stride}, padding={self.padding}"
