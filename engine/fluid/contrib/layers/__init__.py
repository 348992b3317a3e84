"""Paddle's ``fluid.contrib.layers``: recurrent networks and their single steps."""

from engine.core.alias.absent import refusing
from engine.fluid.contrib.layers.basic_rnn import basic_gru, basic_lstm
from engine.fluid.contrib.layers.rnn_impl import BasicGRUUnit, BasicLSTMUnit

__all__ = ["BasicGRUUnit", "BasicLSTMUnit", "basic_gru", "basic_lstm"]

__getattr__ = refusing(__name__)
