"""Depthwise convolution: each channel has filters of its own, so it is elementwise products, not matrices."""

from __future__ import annotations

from typing import Any

from engine.ops.conv_plan import Plan


class DepthwisePlan(Plan):
    """A convolution with as many groups as channels: [N, C, H, W] with [C * m, 1, kh, kw]."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        if self.groups != self.channels:
            raise ValueError("shapes do not fit")  # the mode asks inference to say what is wrong

    def _entries(self, image: Any) -> Any:
        """For each entry (a, b) of the filters, the part of the padded image that it meets."""
        for a in range(self.kh):
            for b in range(self.kw):
                yield a, b, image[self.row(a), :, self.column(b)]

    def forward(self, x: Any, weight: Any) -> Any:
        xp = self.xp
        image = self.image(x)
        shape = (self.oh, self.filters, self.ow, self.samples)
        split = (self.oh, self.groups, self.each, self.ow, self.samples)
        result = xp.zeros(shape, x.dtype)
        parts, one = result.reshape(split), xp.empty(shape, x.dtype).reshape(split)
        factors = weight.reshape(self.groups, self.each, 1, 1, self.kh, self.kw)
        for a, b, part in self._entries(image):
            xp.multiply(part[:, :, None], factors[..., a, b], out=one)
            parts += one
        return result.transpose(3, 1, 0, 2)

    def gradients(self, x: Any, weight: Any, g: Any, need_x: bool, need_weight: bool) -> tuple[Any, Any]:
        xp = self.xp
        g = xp.ascontiguousarray(g.transpose(2, 1, 3, 0))
        g = g.reshape(self.oh, self.groups, self.each, self.ow, self.samples)
        x_grad = weight_grad = None
        if need_x:
            full = xp.zeros((self.full_height, self.channels, self.full_width, self.samples), g.dtype)
            factors = weight.reshape(self.groups, self.each, 1, 1, self.kh, self.kw)
            for a, b, part in self._entries(full):
                part += (g * factors[..., a, b]).sum(axis=2)
            image = full.transpose(3, 1, 0, 2)
            x_grad = image[:, :, self.top : self.top + self.height, self.left : self.left + self.width]
        if need_weight:
            weight_grad = xp.empty(weight.shape, weight.dtype)
            sums = weight_grad.reshape(self.groups, self.each, self.kh, self.kw)
            for a, b, part in self._entries(self.image(x)):
                sums[:, :, a, b] = (g * part[:, :, None]).sum(axis=(0, 3, 4))
        return x_grad, weight_grad
