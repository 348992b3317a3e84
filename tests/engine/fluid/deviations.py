"""Where fluid deliberately differs from Paddle 1.5 to 1.8: both answers, and the reason.

``there`` is what the documentation of 1.8 says, or what the kernel gives that Paddle 2.6.2 still has.
``test_deviations.py`` runs ``code`` in a guard and expects ``here``; ``python -m docs.paddle_scripts`` writes
them into the guide.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FluidDeviation:
    """A call, as users know it, and code whose last line gives its answer."""

    call: str
    code: str
    there: str
    here: str
    reason: str


DEVIATIONS = (
    FluidDeviation(
        "to_variable(array)",
        "x = np.ones(2, 'float32')\nvalue = to_variable(x)\nx[0] = 0\nvalue.numpy()",
        "after `array[0] = 0`: [0, 1] in 1.7 and 1.8 on the CPU; [1, 1] in 1.5, 1.6, 2.x and on a GPU",
        "[1. 1.]",
        "a script that fills one array again and again would change what it has recorded; one that needs the "
        "shared memory passes `zero_copy=True`",
    ),
    FluidDeviation(
        "nce(x, label, classes, seed=0)",
        "x, label = to_variable(np.ones((1, 2), 'float32')), to_variable(np.array([[1]]))\n"
        "one = fluid.ParamAttr(initializer=fluid.initializer.Constant(0.1))\n"
        "bias = fluid.ParamAttr(initializer=fluid.initializer.Uniform(seed=3))\n"
        "def loss():\n"
        "    paddle.seed(1)\n"
        "    return layers.nce(x, label, 50, None, one, bias, 3).numpy()\n"
        "'the same classes' if (loss() == loss()).all() else 'others'",
        "other classes at each run, whatever the script seeds: 7, 6, 49, then 35, 40, 20",
        "the same classes",
        "after `paddle.seed(1)`, which determines the classes; with a `seed` other than 0 they are Paddle's",
    ),
    FluidDeviation(
        "softmax_with_cross_entropy(return_softmax=True)[1]",
        "x = to_variable(np.float32([[0, 1]]))\nx.stop_gradient = False\n"
        "label = to_variable(np.array([[0]]))\n"
        "softmax = layers.softmax_with_cross_entropy(x, label, return_softmax=True)[1]\n"
        "layers.reduce_sum(softmax[:, 0]).backward()\nx.gradient().round(3)",
        "its gradient ends the process where the loss is not used, and is lost where it is",
        "[[ 0.197 -0.197]]",
        "the gradient is that of the softmax",
    ),
    FluidDeviation(
        "beam_search of dense values in a guard",
        "ids = to_variable(np.array([[1, 2], [3, 4]]))\n"
        "scores = to_variable(np.float32([[0.5, 0.4], [0.3, 0.2]]))\n"
        "pre = to_variable(np.array([[5], [6]])), to_variable(np.zeros((2, 1), 'float32'))\n"
        "layers.beam_search(*pre, ids, scores, 2, 0)[0].numpy().tolist()",
        "refused: the scores have no LoD",
        "[[1], [2]]",
        "each source has `beam_size` prefixes, one after the other",
    ),
    FluidDeviation(
        "sampled_softmax_with_cross_entropy(seed=5)",
        "x = to_variable(np.zeros((1, 50), 'float32'))\nlabel = to_variable(np.array([[7]]))\n"
        "def loss():\n"
        "    return layers.sampled_softmax_with_cross_entropy(x, label, 4, seed=5).numpy()\n"
        "'the same classes' if (loss() == loss()).all() else 'others'",
        "draws classes by 1.8's generator, which 2.6.2 no longer has",
        "the same classes",
        "the shares of the classes are 1.8's, and a seed repeats the draws; the drawn classes are others",
    ),
)
