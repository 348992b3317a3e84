"""Modules of fluid that only have names of today's modules: a table instead of a file for each.

``import paddle.fluid.unique_name`` works as if there were a file.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from engine.core.lazy import lazy

MODULES: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "average": (
        "``fluid.average``: a mean of numbers that come one after the other.",
        {"engine.fluid.metrics": ("WeightedAverage",)},
    ),
    "compiler": (
        "Paddle's ``fluid.compiler``: options of how Programs are compiled.",
        {"engine.static.compiled": ("BuildStrategy", "CompiledProgram", "ExecutionStrategy")},
    ),
    "data_feeder": (
        "Paddle's ``fluid.data_feeder``: rows of a reader as what an Executor is fed, and checks of "
        "arguments.",
        {
            "engine.io.feeding": ("DataFeeder",),
            "engine.base.data_feeder": (
                "check_dtype",
                "check_type",
                "check_variable_and_dtype",
                "convert_dtype",
            ),
        },
    ),
    "evaluator": (
        "Paddle's ``fluid.evaluator``: metrics whose numbers a Program adds up, batch by batch.",
        {"engine.fluid.metrics.evaluators": ("ChunkEvaluator", "DetectionMAP", "EditDistance", "Evaluator")},
    ),
    "lod_tensor": (
        "Paddle's ``fluid.lod_tensor``: rows of sequences of uneven lengths.",
        {"engine.base.lod_tensor": ("create_lod_tensor", "create_random_int_lodtensor")},
    ),
    "parallel_executor": (
        "Paddle's ``fluid.parallel_executor``: static training on several processes.",
        {
            "engine.static.compiled": ("BuildStrategy", "ExecutionStrategy"),
            "engine.fluid.executor": ("ParallelExecutor",),
        },
    ),
    "annotations": (
        "Paddle's ``fluid.annotations``: marks of old names.",
        {"engine.utils": ("deprecated",)},
    ),
    "contrib.mixed_precision": (
        "Paddle's ``fluid.contrib.mixed_precision``: half precision in Programs.",
        {"engine.static.amp": ("AutoMixedPrecisionLists", "decorate")},
    ),
    "dataloader": (
        "Paddle's ``fluid.dataloader``: data sets and their batches.",
        {
            "engine.io": (
                "BatchSampler",
                "Dataset",
                "DistributedBatchSampler",
                "IterableDataset",
                "TensorDataset",
            ),
        },
    ),
    "dygraph.io": (
        "Paddle's ``fluid.dygraph.io``: Layers that were saved.",
        {"engine.jit": ("TranslatedLayer",)},
    ),
    "dygraph.layer_object_helper": (
        "Paddle's ``fluid.dygraph.layer_object_helper``: what a Layer of one's own asks of fluid.",
        {"engine.fluid.layer_helper": ("LayerObjectHelper",)},
    ),
    "layer_helper_base": (
        "Paddle's ``fluid.layer_helper_base``: what a layer of one's own asks of fluid.",
        {"engine.fluid.layer_helper": ("LayerHelperBase",)},
    ),
    "layers.distributions": (
        "Paddle's ``fluid.layers.distributions``: distributions of 1.6 to 1.8.",
        {
            "engine.fluid.layers.nn.distributions": (
                "Categorical",
                "MultivariateNormalDiag",
                "Normal",
                "Uniform",
            ),
        },
    ),
    "layers.rnn": (
        "Paddle's ``fluid.layers.rnn``: recurrent layers and decoding.",
        {
            "engine.fluid.layers": (
                "BasicDecoder",
                "BeamSearchDecoder",
                "DecodeHelper",
                "Decoder",
                "GRUCell",
                "GreedyEmbeddingHelper",
                "LSTMCell",
                "RNNCell",
                "SampleEmbeddingHelper",
                "TrainingHelper",
                "beam_search",
                "beam_search_decode",
                "dynamic_decode",
                "dynamic_gru",
                "dynamic_lstm",
                "dynamic_lstmp",
                "gru_unit",
                "lstm",
                "lstm_unit",
                "rnn",
            ),
        },
    ),
    "layers.sequence_lod": (
        "Paddle's ``fluid.layers.sequence_lod``: layers on sequences of uneven lengths.",
        {
            "engine.fluid.layers": (
                "sequence_concat",
                "sequence_conv",
                "sequence_enumerate",
                "sequence_expand",
                "sequence_expand_as",
                "sequence_first_step",
                "sequence_last_step",
                "sequence_mask",
                "sequence_pad",
                "sequence_pool",
                "sequence_reshape",
                "sequence_reverse",
                "sequence_scatter",
                "sequence_slice",
                "sequence_softmax",
                "sequence_unpad",
            ),
        },
    ),
    "transpiler.distribute_transpiler": (
        "Paddle's ``fluid.transpiler.distribute_transpiler``: Programs for several processes.",
        {"engine.fluid.transpiler": ("DistributeTranspiler", "DistributeTranspilerConfig")},
    ),
    "unique_name": (
        "Paddle's ``fluid.unique_name``: names counted from 0, within a guard anew.",
        {"engine.utils.unique_name": ("generate", "guard", "switch")},
    ),
}
"""Name below ``fluid`` -> the module's docstring, and where its names come from."""


def add_to(package: str) -> None:
    """Make the modules of the table importable as modules of ``package``, and attributes of it.

    They are in ``sys.modules`` when the package has been imported, which importing one of them does first.
    """
    for name, (text, sources) in MODULES.items():
        path = f"{package}.{name}"
        made = ModuleType(path, text)
        names = sorted(each for found in sources.values() for each in found)
        made.__spec__ = ModuleSpec(path, None)
        made.__package__ = package
        made.__getattr__ = lazy(path, members=sources)  # type: ignore[method-assign]
        made.__dict__.update(__all__=names, __dir__=lambda names=names: names)
        sys.modules[path] = made
        above, _, own = path.rpartition(".")
        parent = importlib.import_module(above)
        if not hasattr(parent, "__path__"):
            parent.__path__ = []  # a file that has modules below
        if isinstance(vars(parent).get(own, made), ModuleType):  # layers.rnn is a function
            setattr(parent, own, made)
