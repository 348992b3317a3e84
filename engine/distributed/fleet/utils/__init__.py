"""``paddle.distributed.fleet.utils``: what scripts call between backward and step."""

from engine.core.alias.absent import refusing
from engine.distributed.fleet.utils import hybrid_parallel_util

__all__ = ["hybrid_parallel_util"]

__getattr__ = refusing(__name__)
