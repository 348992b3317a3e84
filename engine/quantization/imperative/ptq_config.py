"""PTQConfig: which quantizers ImperativePTQ gives each layer."""

from __future__ import annotations

import copy
from typing import Any

from engine.core.errors import ConditionError
from engine.quantization.imperative.ptq_quantizer import (
    SUPPORT_ACT_QUANTIZERS,
    SUPPORT_WT_QUANTIZERS,
    BaseQuantizer,
    KLQuantizer,
    PerChannelAbsmaxQuantizer,
)
from engine.tensor.creation import to_tensor


class PTQConfig:
    """Quantizers of inputs and outputs (``activation_quantizer``) and of weights; each layer gets copies.

    Raises ConditionError, an AssertionError, for quantizers that are not made for it.
    """

    def __init__(self, activation_quantizer: BaseQuantizer, weight_quantizer: BaseQuantizer) -> None:
        for name, given, known in (
            ("activation_quantizer", activation_quantizer, SUPPORT_ACT_QUANTIZERS),
            ("weight_quantizer", weight_quantizer, SUPPORT_WT_QUANTIZERS),
        ):
            if not isinstance(given, tuple(known)):
                listed = ", ".join(each.__name__ for each in known)
                raise ConditionError(
                    f"PTQConfig: {name} is one of {listed}: got {given!r}; make one of those"
                )
        self.in_act_quantizer = copy.deepcopy(activation_quantizer)
        self.out_act_quantizer = copy.deepcopy(activation_quantizer)
        self.wt_quantizer = copy.deepcopy(weight_quantizer)
        self.quant_hook_handle: Any = None
        self.enable_in_act_quantizer = False

    def see(self, *arrays: Any) -> None:
        """Show the quantizers what a layer took and, as the last, what it gave."""
        *taken, given = (to_tensor(each) for each in arrays)
        if self.enable_in_act_quantizer:
            self.in_act_quantizer.sample_data(None, tuple(taken))
        self.out_act_quantizer.sample_data(None, (given,))


default_ptq_config = PTQConfig(KLQuantizer(), PerChannelAbsmaxQuantizer())
