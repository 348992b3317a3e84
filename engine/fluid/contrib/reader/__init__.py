"""Paddle's ``fluid.contrib.reader``: the batches of one process among several."""

from engine.fluid.contrib.reader.distributed_reader import distributed_batch_reader

__all__ = ["distributed_batch_reader"]
