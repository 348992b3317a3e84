"""Paddle's own Programs: OpDescs read as operators here, and operators written as OpDescs."""
