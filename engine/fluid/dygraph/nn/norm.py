"""``BatchNorm``."""

from __future__ import annotations

from typing import Any

from engine.fluid.dygraph import tracer as tracers
from engine.fluid.dygraph.nn.forms import Formed, alias, form
from engine.nn import functional
from engine.nn.initializer import Constant
from engine.nn.param_attr import ParamAttr


class BatchNorm(Formed):
    """Channels normalized over the batch, then ``* scale + bias``; in evaluation by the running statistics.

    Running mean and variance are Parameters that are not trained, so the state has them.
    """

    EARLY = form(
        lambda name_scope, num_channels, act=None, is_test=False, momentum=0.9, epsilon=1e-05,
        param_attr=None, bias_attr=None, dtype="float32", data_layout="NCHW", in_place=False,
        moving_mean_name=None, moving_variance_name=None, do_model_average_for_mean_and_var=False,
        fuse_with_relu=False, use_global_stats=False, trainable_statistics=False: None
    )  # fmt: skip
    LATE = form(
        lambda num_channels, act=None, is_test=False, momentum=0.9, epsilon=1e-05, param_attr=None,
        bias_attr=None, dtype="float32", data_layout="NCHW", in_place=False, moving_mean_name=None,
        moving_variance_name=None, do_model_average_for_mean_and_var=True, use_global_stats=False,
        trainable_statistics=False: None
    )  # fmt: skip

    def _make(self) -> None:
        given, shape = self.given, [self.given["num_channels"]]
        self.weight = self.create_parameter(
            given["param_attr"], shape, self._dtype, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter(given["bias_attr"], shape, self._dtype, is_bias=True)
        self._mean, self._variance = (
            self.create_parameter(ParamAttr(name, Constant(value), trainable=False), shape, self._dtype)
            for name, value in ((given["moving_mean_name"], 0.0), (given["moving_variance_name"], 1.0))
        )

    def _in_scope(self, attr: Any) -> ParamAttr:
        """Names of the running statistics are taken as they are given."""
        found = ParamAttr._to_attr(attr)
        given = (self.given["moving_mean_name"], self.given["moving_variance_name"])
        return found if found.name is not None and found.name in given else super()._in_scope(attr)

    _scale = alias("weight")
    _bias = alias("bias")

    def forward(self, input: Any) -> Any:
        """``input`` [N, channels, ...] (or channels last)."""
        given = self.given
        evaluates = given["is_test"] or tracers.is_test() or not self.training
        out = functional.batch_norm(
            input, self._mean, self._variance, self.weight, self.bias,
            training=not evaluates or given["trainable_statistics"], momentum=given["momentum"],
            epsilon=given["epsilon"], data_format=given["data_layout"],
            use_global_stats=True if given["use_global_stats"] else None,
        )  # fmt: skip
        return self._activated(out)
