"""``fluid.layers``: functions of networks with the names, arguments and shapes of versions before 2.0."""

from engine.core.alias.absent import refusing
from engine.fluid.layers import (
    adapting,
    blocks,
    control_flow,
    decoding,
    detection,
    io,
    learning_rate_scheduler,
    loss,
    metric_op,
    nn,
    ops,
    recurrent,
    row_branches,
    static_rnn,
    tensor,
    uneven,
)
from engine.fluid.layers import utils as utils
from engine.fluid.layers.adapting import public
from engine.fluid.layers.lod import beam_decode, dynamic_rnn, projected_lstm, rank_table
from engine.fluid.layers.nn import (
    building,
    distributions,
    dropping,
    elementwise,
    images,
    pooling,
    python,
    regions,
    shapes,
    tagging,
)
from engine.nn.decode import BeamSearchDecoder as BeamSearchDecoder
from engine.nn.decode import Decoder as Decoder
from engine.static.nn import sequences

for _module in (
    building,
    distributions,
    dropping,
    elementwise,
    images,
    pooling,
    python,
    regions,
    shapes,
    tagging,
    ops,
    tensor,
    loss,
    metric_op,
    control_flow,
    blocks,
    row_branches,
    static_rnn,
    dynamic_rnn,
    beam_decode,
    projected_lstm,
    rank_table,
    decoding,
    detection,
    recurrent,
    sequences,
    uneven,
    io,
    learning_rate_scheduler,
):
    globals().update(public(_module))
del _module

adapting.layer_function.define(lambda name: globals().get(name))
__getattr__ = refusing(__name__)
