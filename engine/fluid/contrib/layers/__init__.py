"""Paddle's ``fluid.contrib.layers``: single steps of recurrent networks."""

from engine.fluid.contrib.layers.rnn_impl import BasicGRUUnit, BasicLSTMUnit

__all__ = ["BasicGRUUnit", "BasicLSTMUnit"]
