"""BaseObserver: what a layer has that only watches a tensor."""

from __future__ import annotations

import abc

from engine.quantization.base_quanter import BaseQuanter


class BaseObserver(BaseQuanter, metaclass=abc.ABCMeta):
    """Base of observers: quanters that give back their input and compute scales of what they have seen."""

    @abc.abstractmethod
    def cal_thresholds(self) -> None:
        """Compute the scales from what was seen; once, when all samples have passed."""
