"""The Python blocks of document 004 (DyGraph of Paddle 1.5), and the scripts put together from them."""

from __future__ import annotations

from dataclasses import dataclass, field

PREAMBLE = (
    "import os; import numpy as np; import paddle; import paddle.fluid as fluid; from PIL import Image; "
    "from paddle.fluid.dygraph import to_variable; from paddle.fluid.optimizer import AdamOptimizer; "
    "BATCH_SIZE, epoch_num = 64, 1"
)
"""The imports and names that the document leaves undefined. It is line 1 of every script."""

NETWORK = ((167, 212), (225, 253))
"""SimpleImgConvPool and MNIST."""

MULTI_CARD = ((401, 437), (442, 442), (446, 449), (453, 456), (460, 462), (606, 607))
"""Training on several cards: the whole, its four changes to a script for one card, and who saves."""

NOT_PYTHON = {
    "a command for the shell": ((24, 24), (466, 466)),
    "what a script prints": ((49, 52), (71, 73), (271, 279), (365, 391), (470, 481), (496, 531), (722, 736)),
    "a tree of files": ((486, 492),),
}
"""Indented lines that are not code of Python."""

MISTAKES = {
    "a block of a comment alone": (
        ((31, 33),),
        r"IndentationError: expected an indented block after 'with' statement on line 32",
    ),
    "its output within a block": (((40, 49),), r"line 49\n    \[\[10\. 10\.\]\n(.*\n)*SyntaxError: "),
    "a batch size that comes later": (
        ((161, 162),),
        r"line 162(.*\n)*NameError: name 'BATCH_SIZE' is not defined",
    ),
}
"""What is wrong with blocks as they stand, without what the preamble adds, and how Python says so."""

FLOAT = r"\d\.\d+(?:e-\d+)?"


@dataclass(frozen=True)
class Story:
    """One script: ``PREAMBLE`` and blocks of the document, each at the document's own line numbers.

    Attributes:
        blocks: first and last line, counted from 1, both included; each block has its common indentation
            taken off (a tab counts as four blanks).
        inside: the indentation that a block gets instead, by its first line, where it continues another one.
        instead: corrected lines by their numbers.
        out: regular expressions, each found in what is printed, in this order.
        then: our own code at the end, which must run without an error.
        warns: a regular expression for all that stands on stderr.
        batches: how many batches of 64 images there are for training.
        options: those of ``model-studio run``; where they name the launcher, ``out`` is looked for in the log
            of each process.
    """

    blocks: tuple[tuple[int, int], ...]
    inside: dict[int, int] = field(default_factory=dict)
    instead: dict[int, str] = field(default_factory=dict)
    out: tuple[str, ...] = ()
    then: str = ""
    warns: str = ""
    batches: int = 2
    options: tuple[str, ...] = ()


DEBUGGED = """
assert np.array_equal(dy_out, [5.0]), dy_out
assert np.array_equal(dy_grad, [2.0, 4.0, 0.0]), dy_grad
"""
READS = """
first = next(train_reader())
assert len(first) == 64 and first[0][0].shape == (784,) and first[0][0].dtype == np.float32
"""
LEARNED = """
assert avg_loss.shape == [1] and float(avg_loss.numpy()) < 2.0, avg_loss.numpy()
"""
PARAMETERS = """
assert sorted(dy_param_value) == sorted(param.name for param in mnist.parameters())
assert [param.name for param in mnist.parameters()] == [
    "mnist/MNIST_0/SimpleImgConvPool_0/Conv2D_0.w_0", "mnist/MNIST_0/SimpleImgConvPool_0/Conv2D_0.b_0",
    "mnist/MNIST_0/SimpleImgConvPool_1/Conv2D_0.w_0", "mnist/MNIST_0/SimpleImgConvPool_1/Conv2D_0.b_0",
    "mnist/MNIST_0/FC_0.w_0", "mnist/MNIST_0/FC_0.b_0",
]
"""
ALONE = """
assert strategy is None and isinstance(mnist, fluid.dygraph.parallel.DataParallel)
assert avg_loss.shape == [1] and float(avg_loss.numpy()) < 2.2, avg_loss.numpy()
"""
LAUNCH = ("--device", "cpu", "-m", "paddle.distributed.launch", "--selected_gpus=0,1", "--log_dir", "./mylog")
"""The document's own line, with the switch that computes on the CPU."""
TAUGHT = """
assert avg_loss.shape == [1] and float(avg_loss.numpy()) < 0.25, avg_loss.numpy()  # half of the loss
np.savez("parameters.%d.npz" % fluid.dygraph.parallel.Env().local_rank,
         **{param.name: param.numpy() for param in mnist.parameters()})
"""
FOUR_CHANGES = """
before = {name: value.numpy() for name, value in mnist.state_dict().items()}
assert all(value.gradient() is not None for value in mnist.parameters())
saved, _ = fluid.dygraph.load_persistables("save_dir")
assert sorted(saved) == sorted(before) and all(np.array_equal(saved[n].numpy(), before[n]) for n in before)
assert len(list(train_reader())) == 2
"""
ONE_BATCH = (
    "data = next(train_reader()); img = to_variable(np.array([x[0].reshape(1, 28, 28) for x in data])); "
    "label = to_variable(np.array([[x[1]] for x in data])); cost, acc = mnist(img, label); "
    "avg_loss = fluid.layers.mean(fluid.layers.cross_entropy(cost, label))"
)
STATIC = """
assert static_out.shape == (1,) and 0.0 < static_out[0] < 2.4, static_out
"""

STORIES = {
    "guard": Story(((31, 33),), instead={33: "    pass"}),
    "sums": Story(((40, 46),), out=(r"\[\[10\. 10\.\]\n \[10\. 10\.\]\]",)),
    "gradient": Story(
        ((40, 46), (62, 64)),
        inside={62: 4},
        out=(r"\[\[10\. 10\.\]\n \[10\. 10\.\]\]", r"\[1\.\]"),
    ),
    "MyLayer from its parts": Story(
        ((31, 31), (85, 87), (92, 97), (106, 106), (110, 114), (118, 119)),
        inside={92: 4, 118: 4},
        then=DEBUGGED,
    ),
    "MyLayer": Story(((124, 149),), then=DEBUGGED),
    "reader": Story(((161, 162),), then=READS),
    "forward": Story(((161, 162), *NETWORK, (260, 267)), out=(r"result is: \[\[0\.\d+ +0\.\d+",)),
    "training": Story((*NETWORK, (283, 310)), then=LEARNED),
    "parameters": Story(
        (*NETWORK, (321, 361)),
        batches=5,
        then=PARAMETERS + LEARNED,
        out=(
            r"Loss at step 0: \[2\.\d+\]",
            r"Final loss: \[\d\.\d*\]",
            rf"_simple_img_conv_pool_1_conv2d W's mean is: -?{FLOAT}",
            rf"_simple_img_conv_pool_1_conv2d Bias's mean is: -?{FLOAT}",
        ),
    ),
    "multi-card, on one": Story(
        (*NETWORK, MULTI_CARD[0]),
        batches=5,
        options=("--device", "cpu"),
        then=ALONE,
    ),
    "multi-card, on two": Story(
        (*NETWORK, MULTI_CARD[0], (606, 607)),
        inside={606: 4},
        batches=202,
        options=LAUNCH,
        then=TAUGHT,
        out=(
            r"start data reader \(trainers_num: 2, trainer_id: [01]\)\n",
            rf"epoch: 0, batch_id: 100, loss is: \[{FLOAT}\]",
        ),
    ),
    "multi-card's four changes": Story(
        (*NETWORK, *MULTI_CARD[1:]),
        options=("--device=cpu",),
        then=FOUR_CHANGES,
        instead={440: "fluid.enable_dygraph()", 458: ONE_BATCH},
    ),
    "saving and loading": Story(
        (*NETWORK, (552, 602)),
        batches=21,
        out=("model save and load success\\? True",),
        warns=r".*UserWarning: Optimizer not saved, Only optimizer with 'LearningRateDecay' .*\n.*\n",
    ),
    "evaluation and inference": Story(
        (*NETWORK, (620, 668), (670, 718)),
        batches=21,
        out=(
            r"Loss at epoch 0 step 0: \[2\.\d+\]",
            rf"Loss at epoch 0 , Test avg_loss is: {FLOAT}, acc is: ",
            "checkpoint saved",
            r"No optimizer loaded\. If you didn't save optimizer, please ignore this\. "
            r"The program can still work with new optimizer\. \n",
            "checkpoint loaded",
            r"Inference result of image/infer_3\.png is: 3\n",
        ),
    ),
    "Executor": Story((*NETWORK, (744, 780)), then=STATIC),
}
