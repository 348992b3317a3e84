"""``NCE``: the loss of noise-contrastive estimation as a layer."""

from __future__ import annotations

from typing import Any

from engine.fluid.dygraph.nn.forms import Formed, form
from engine.fluid.values.variable import result
from engine.ops.random import noise
from engine.static.nn.noise import DRAWN, sampler_of
from engine.tensor.creation import to_tensor


class NCE(Formed):
    """The loss of telling each sample's classes from drawn ones, see ``static.nn.nce``.

    ``weight`` is [num_total_classes, dim], ``bias`` [num_total_classes, 1] or None.
    """

    EARLY = form(
        lambda name_scope, num_total_classes, sample_weight=None, param_attr=None, bias_attr=None,
        num_neg_samples=None, sampler="uniform", custom_dist=None, seed=0, is_sparse=False: None
    )  # fmt: skip
    LATE = form(
        lambda num_total_classes, dim, sample_weight=None, param_attr=None, bias_attr=None,
        num_neg_samples=None, sampler="uniform", custom_dist=None, seed=0, is_sparse=False,
        dtype="float32": None
    )  # fmt: skip

    def _make(self) -> None:
        given = self.given
        kind, tables = sampler_of("NCE", given["sampler"], given["custom_dist"], given["num_total_classes"])
        self.__dict__["_sampler"] = kind, [to_tensor(table) for table in tables]
        if "dim" in given:
            self._make_parameters(given["dim"])

    def _build_once(self, input: Any, label: Any, sample_weight: Any = None) -> None:
        if "dim" not in self.given:
            self._make_parameters(int(input.shape[1]))

    def _make_parameters(self, dim: int) -> None:
        given, classes = self.given, self.given["num_total_classes"]
        self.weight = self.create_parameter(given["param_attr"], [classes, dim], self._dtype)
        self.bias = self.create_parameter(given["bias_attr"], [classes, 1], self._dtype, is_bias=True)

    def forward(self, input: Any, label: Any, sample_weight: Any = None) -> Any:
        """``input`` [N, dim], ``label`` int64 [N, classes of a sample], ``sample_weight`` [N, 1]: [N, 1]."""
        given, (kind, tables) = self.given, self._sampler
        drawn = DRAWN if given["num_neg_samples"] is None else int(given["num_neg_samples"])
        factor = given["sample_weight"] if sample_weight is None else sample_weight
        cost, _, _ = noise.nce(
            input, label, self.weight, self.bias, factor, *tables,
            num_total_classes=given["num_total_classes"],
            num_neg_samples=drawn, sampler=kind, seed=int(given["seed"]), is_sparse=bool(given["is_sparse"]),
        )  # fmt: skip
        return result(cost / (drawn + 1))
