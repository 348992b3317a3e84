"""``paddle.distributed.fleet.utils``: what scripts call between backward and step, and ``recompute``."""

from engine.core.alias.absent import refusing
from engine.distributed.fleet.utils import hybrid_parallel_util
from engine.distributed.fleet.utils.recomputing import recompute

__all__ = ["hybrid_parallel_util", "recompute"]

__getattr__ = refusing(__name__)
