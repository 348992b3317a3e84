"""Paddle's ``fluid.data_feeder``: rows of a reader as what an Executor is fed."""

from engine.io.feeding import DataFeeder

__all__ = ["DataFeeder"]
