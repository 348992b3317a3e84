"""Paddle's ``fluid.data_feeder``: rows of a reader as what an Executor is fed, and checks of arguments."""

from engine.base.data_feeder import check_dtype, check_type, check_variable_and_dtype, convert_dtype
from engine.io.feeding import DataFeeder

__all__ = ["DataFeeder", "check_dtype", "check_type", "check_variable_and_dtype", "convert_dtype"]
