"""PTQ: a trained network that is quantized by what passes through it."""

from __future__ import annotations

import copy

from engine.core.errors import ConditionError
from engine.nn.layer.layers import Layer
from engine.quantization.quantize import Quantization


class PTQ(Quantization):
    """Puts observers into trained networks; ``config`` says which and where.

    Then a few samples are run through the network, and ``convert`` fixes the scales.
    """

    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """A copy of ``model`` with observers (``model`` itself with ``inplace``), to be shown samples.

        Raises ConditionError, an AssertionError, for a model in training mode, ArgumentError for one that is
        quantized already or has no layers within.
        """
        if model.training:
            raise ConditionError(
                "Post-Training Quantization shoud not work on training models. Please set evaluation mode by "
                "model.eval()."
            )
        made = model if inplace else copy.deepcopy(model)
        self._put_in(made)
        return made
