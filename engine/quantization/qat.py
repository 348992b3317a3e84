"""QAT: a network that learns with the errors that its quantization will make."""

from __future__ import annotations

import copy

from engine.core.errors import ConditionError
from engine.nn.layer.layers import Layer
from engine.quantization.quantize import Quantization


class QAT(Quantization):
    """Puts quanters into networks that are to be trained further; ``config`` says which and where."""

    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """A copy of ``model`` with quanters (``model`` itself with ``inplace``), to be trained.

        Raises ConditionError, an AssertionError, for a model in evaluation mode, ArgumentError for one that
        is quantized already or has no layers within.
        """
        if not model.training:
            raise ConditionError(
                "Quantization-Aware Training shoud work on training models. Please set training mode by "
                "model.train()."
            )
        made = model if inplace else copy.deepcopy(model)
        self._put_in(made)
        return made
