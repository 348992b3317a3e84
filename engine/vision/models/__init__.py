"""Networks for pictures."""

from engine.vision.models.lenet import LeNet

__all__ = ["LeNet"]
