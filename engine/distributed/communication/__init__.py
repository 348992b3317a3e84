"""Where Paddle keeps its collectives; here the package of ``stream`` alone."""

from engine.distributed.communication import stream

__all__ = ["stream"]
