"""``LayerNorm``, ``GroupNorm``, ``InstanceNorm`` and ``SpectralNorm``."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import ShapeError
from engine.fluid.dygraph.nn.forms import Formed, alias, form
from engine.fluid.values.variable import result
from engine.nn import functional
from engine.nn.functional import norm as norms
from engine.nn.initializer import Constant, Normal
from engine.ops.linalg.spectral_norm import spectral_norm


class LayerNorm(Formed):
    """Samples normalized over their last dimensions, then ``* scale + shift`` and the activation.

    These are the dimensions from ``begin_norm_axis`` on of the first input, or ``normalized_shape``.
    """

    EARLY = form(
        lambda name_scope, scale=True, shift=True, begin_norm_axis=1, epsilon=1e-05, param_attr=None,
        bias_attr=None, act=None, dtype="float32": None
    )  # fmt: skip
    LATE = form(
        lambda normalized_shape, scale=True, shift=True, epsilon=1e-05, param_attr=None, bias_attr=None,
        act=None, dtype="float32": None
    )  # fmt: skip

    def _make(self) -> None:
        if "normalized_shape" in self.given:
            shape = self.given["normalized_shape"]
            self._make_parameters(list(shape) if isinstance(shape, (list, tuple)) else [shape])

    def _build_once(self, input: Any) -> None:
        if "normalized_shape" not in self.given:
            self._make_parameters([int(n) for n in input.shape[self.given["begin_norm_axis"] :]])

    def _make_parameters(self, shape: list[int]) -> None:
        given = self.given
        if not shape or min(shape) < 0:
            raise ShapeError(
                f"{self.full_name()}: the normalized dimensions must be known: got {shape}; give them in "
                "layers.data"
            )
        self._normalized, size = shape, [math.prod(shape)]
        scale = given["param_attr"] if given["scale"] else False
        shift = given["bias_attr"] if given["shift"] else False
        self.weight = self.create_parameter(scale, size, self._dtype, default_initializer=Constant(1.0))
        self.bias = self.create_parameter(shift, size, self._dtype, is_bias=True)

    _scale_w = alias("weight")
    _bias_w = alias("bias")

    def forward(self, input: Any) -> Any:
        """``input`` [N, ...]."""
        epsilon = self.given["epsilon"]
        return self._activated(
            functional.layer_norm(input, self._normalized, self.weight, self.bias, epsilon)
        )


class _OverChannels(Formed):
    """A norm with a scale and a bias for each channel, which the first input or ``CHANNELS`` counts."""

    CHANNELS: str
    SCALE = "weight"

    def _make(self) -> None:
        if self.CHANNELS in self.given:
            self._make_parameters(int(self.given[self.CHANNELS]))

    def _build_once(self, input: Any) -> None:
        if self.CHANNELS not in self.given:
            self._make_parameters(int(input.shape[1]))

    def _make_parameters(self, channels: int) -> None:
        scale, bias = self._attributes()
        made = self.create_parameter(scale, [channels], self._dtype, default_initializer=Constant(1.0))
        setattr(self, self.SCALE, made)
        self.bias = self.create_parameter(bias, [channels], self._dtype, is_bias=True)

    def _attributes(self) -> tuple[Any, Any]:
        return self.given["param_attr"], self.given["bias_attr"]

    _bias = alias("bias")


class GroupNorm(_OverChannels):
    """Groups of channels of each sample normalized, then ``* scale + bias`` and the activation.

    As in Paddle there is a scale or bias only where ``param_attr`` or ``bias_attr`` is given.
    """

    CHANNELS = "channels"
    _scale = scale = alias("weight")
    EARLY = form(
        lambda name_scope, groups, epsilon=1e-05, param_attr=None, bias_attr=None, act=None,
        data_layout="NCHW", dtype="float32": None
    )  # fmt: skip
    LATE = form(
        lambda channels, groups, epsilon=1e-05, param_attr=None, bias_attr=None, act=None,
        data_layout="NCHW", dtype="float32": None
    )  # fmt: skip

    def _attributes(self) -> tuple[Any, Any]:
        return self.given["param_attr"] or False, self.given["bias_attr"] or False

    def forward(self, input: Any) -> Any:
        """``input`` [N, channels, ...]."""
        given = self.given
        return self._activated(norms.group_norm(
            input, given["groups"], given["epsilon"], self.weight, self.bias, given["data_layout"]
        ))  # fmt: skip


class InstanceNorm(_OverChannels):
    """Channels of each sample normalized over their elements, then ``* scale + bias``."""

    CHANNELS, SCALE = "num_channels", "scale"
    _scale = weight = alias("scale")
    EARLY = form(lambda name_scope, epsilon=1e-05, param_attr=None, bias_attr=None, dtype="float32": None)
    LATE = form(lambda num_channels, epsilon=1e-05, param_attr=None, bias_attr=None, dtype="float32": None)

    def forward(self, input: Any) -> Any:
        """``input`` [N, channels, ...]."""
        return result(norms.instance_norm(
            input, weight=self.scale, bias=self.bias, eps=self.given["epsilon"]
        ))  # fmt: skip


class SpectralNorm(Formed):
    """A weight divided by its largest singular value, estimated by power iteration from two fixed vectors."""

    EARLY = form(lambda name_scope, dim=0, power_iters=1, eps=1e-12, name=None, dtype="float32": None)
    LATE = form(lambda weight_shape, dim=0, power_iters=1, eps=1e-12, name=None, dtype="float32": None)

    u, v = alias("weight_u"), alias("weight_v")

    def _make(self) -> None:
        if "weight_shape" in self.given:
            self._make_vectors(self.given["weight_shape"])

    def _build_once(self, weight: Any) -> None:
        if "weight_shape" not in self.given:
            self._make_vectors(weight.shape)

    def _make_vectors(self, shape: Any) -> None:
        rows, size = int(shape[self.given["dim"]]), math.prod(int(n) for n in shape)
        for name, length in (("weight_u", rows), ("weight_v", size // rows)):
            made = self.create_parameter(None, [length], self._dtype, default_initializer=Normal(0.0, 1.0))
            made.stop_gradient = True
            setattr(self, name, made)

    def forward(self, weight: Any) -> Any:
        """``weight``, of the shape of the first one."""
        given = self.given
        return result(spectral_norm(
            weight, self.weight_u, self.weight_v, dim=given["dim"], power_iters=given["power_iters"],
            eps=given["eps"],
        ))  # fmt: skip
