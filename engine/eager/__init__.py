"""Eager execution: Tensor, the tape it records, and the switches of recording."""
