"""Layers that differ on purpose: by case, mode and what differs, with both answers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.differential.comparing import CLASS, HERE, KIND, THERE, Outcome


@dataclass(frozen=True)
class Deviation:
    """Cases whose name, mode, category and detail match differ for a reason."""

    reason: str
    name: str = ""
    mode: str = ""
    category: str = ""
    detail: str = ""

    def of_case(self, name: str) -> bool:
        return bool(re.search(self.name, name))

    def holds(self, name: str, mode: str, outcome: Outcome) -> bool:
        texts = ((self.mode, mode), (self.category, outcome.category), (self.detail, outcome.detail))
        return self.of_case(name) and all(re.search(pattern, text, re.DOTALL) for pattern, text in texts)


_SAVED = "^saved"
_TRACED = "to_static|saved"
_GRADIENT = "^gradient"
DEVIATIONS = (
    # What Paddle refuses or what ends its process.
    Deviation("Paddle's CPU has no kernel for it", "ReLU/int|FusedLinear|SyncBatchNorm", "", THERE),
    Deviation("Paddle's kernel refuses an empty tensor", "Linear/empty", "", THERE),
    Deviation(
        "Paddle's kernel ends the process",
        "Conv2D/kernel too large|LSTM/no bias|PSRoIPool$",
        "layer",
        "ended",
    ),
    Deviation(
        "Paddle's backward ends the process where one parameter is missing", "BatchNorm", "layer", "ended"
    ),
    Deviation("a label of integers is cast; Paddle refuses it", "MSELoss/label int", "", THERE),
    Deviation("Paddle's LayerNorm refuses a vector", "LayerNorm/vector", "", THERE),
    Deviation(
        "output_size of one dimension may be [L]; Paddle wants two or four", "MaxUnPool1D/size", "", THERE
    ),
    Deviation("Paddle begins both cells with the size of the first", "BiRNN/mixed", "", THERE),
    Deviation("output channels need not divide by deformable groups", "DeformConv2D/no bias", "", THERE),
    Deviation(
        "Paddle's weight_norm without dim has g as a number, which set_value refuses", "no dim", "", THERE
    ),
    Deviation(
        "Paddle's saved RReLU, and BatchNorm of other statistics than the mode's, "
        "miss a tensor or a parameter",
        "RReLU|BatchNorm",
        _SAVED,
        THERE,
    ),
    Deviation("Paddle can't save the weight that spectral_norm computes", "spectral_norm", _SAVED, THERE),
    Deviation(
        "Paddle's Program can't be built: unknown sizes, an empty Sequential, states as a list, a name",
        "AlphaDropout|Unflatten|Sequential/empty|RNN/states|BeamSearchDecoder|MaxPool2D/valid",
        _SAVED,
        THERE,
    ),
    # What is refused here.
    Deviation("both sides of a loss would have to be broadcast", "MSELoss/broadcast", "", HERE),
    Deviation("an unknown reduction is refused; Paddle gives the elements", "KLDivLoss/unknown", "", HERE),
    Deviation("a label that is the blank is refused; Paddle computes with it", "RNNTLoss/sum", "", HERE),
    Deviation(
        "a layer without forward: RuntimeError, as eagerly; Paddle's ValueError counts its arguments",
        "forward missing",
        _TRACED,
        CLASS,
    ),
    Deviation(
        "sizes that can't be are refused where the layer is built; Paddle's refuse the call",
        "stride 0|channels of groups|PixelShuffle/0|BatchNorm2D/wrong format|Linear/fraction",
        "layer|eager",
        f"{HERE}|{KIND}",
    ),
    Deviation("a division by 0 is refused; Paddle's average is infinite", "divisor 0", "", HERE),
    Deviation(
        "epsilon is limited as eagerly; Paddle's converted layer takes any",
        "large epsilon",
        "to_static",
        HERE,
    ),
    Deviation("a size of text is refused; Paddle's index is out of range", "Pool2D/text", "", CLASS),
    # Values.
    Deviation(
        "a way shorter than the longest costs nothing more; Paddle adds log 2 for each step that it lacks, "
        "2.381 for 1.688",
        "HSigmoidLoss",
        "",
        "value",
    ),
    Deviation(
        "the weight's part of the true class is left out for each sample, "
        "0.440; Paddle subtracts their mean, 0.430",
        "MultiMarginLoss/p 2",
        "",
        "value",
    ),
    Deviation(
        "the distance function is used, 1.188; Paddle measures with the 2-norm, 0.658",
        "TripletMarginWithDistanceLoss/distance",
        "",
        "value",
    ),
    Deviation(
        "Paddle's Program of unknown sizes negates the loss, 2.415; eagerly it is -2.415, as here",
        "RNNTLoss$",
        _SAVED,
        "value",
    ),
    Deviation(
        "dropout of an axis and alpha dropout change nothing in evaluation; Paddle's saved ones drop",
        "Dropout",
        _SAVED,
        "result: value",
    ),
    Deviation(
        "train() of a loaded model turns batch norms and dropout to training; Paddle's that were saved in "
        "evaluation stay so",
        "/(dropout )?eval|vision:[a-z]",
        _SAVED,
        "trained: value",
    ),
    Deviation(
        "is_test=True takes the running statistics, as eagerly; Paddle's converted layer those of the batch",
        "BatchNorm/test",
        "to_static",
        "value",
    ),
    Deviation(
        "a window of padding alone has the lowest value, -inf; Paddle gives that of float32, -3.4e38",
        "MaxPool2D/padding too large",
        "",
        "not finite",
    ),
    # Gradients.
    Deviation(
        "a sparse gradient has all rows; Paddle's those that were read", "Embedding/sparse", "", _GRADIENT
    ),
    Deviation(
        "labels and variances have gradients; Paddle's have None", "KLDivLoss|GaussianNLLLoss", "", _GRADIENT
    ),
    Deviation(
        "Paddle's gradient with pos_weight is not that of the value, -0.0137 for -0.0089",
        "BCEWithLogitsLoss/weights",
        "",
        _GRADIENT,
    ),
    Deviation(
        "Paddle's backward of soft labels with weights fails", "CrossEntropyLoss/soft weight", "", _GRADIENT
    ),
    Deviation(
        "the one parameter of a BatchNorm has a gradient; Paddle's has None",
        "BatchNorm",
        "",
        _GRADIENT,
        "None",
    ),
    Deviation(
        "statistics of the batch in evaluation have a gradient; Paddle's takes them for constants",
        "BatchNorm2D/batch in eval|BatchNorm/trainable",
        "",
        _GRADIENT,
    ),
    Deviation(
        "the gradient is that of the value; Paddle's is that of one step more", "SpectralNorm", "", _GRADIENT
    ),
    Deviation(
        "Paddle's gradient of the backward direction with lengths is not that of the value "
        "(checked by differences)",
        "(LSTM|GRU)/.*lengths",
        "",
        _GRADIENT,
    ),
    Deviation(
        "Paddle's backward fails in evaluation, or with a frozen weight",
        "LSTM/dropout eval|GRU/frozen",
        "",
        _GRADIENT,
    ),
    Deviation(
        "a converted network has gradients in evaluation too; Paddle's have None",
        "resnet18",
        "to_static",
        _GRADIENT,
    ),
    # Names of a saved model.
    Deviation(
        "a constant of the Program is not part of the state; Paddle's state lists it",
        "Pad1D/tensor|Upsample/size tensor|spectral_norm/transpose",
        _SAVED,
        "state",
    ),
)


def reason_of(name: str, mode: str, outcome: Outcome) -> Deviation | None:
    """The deviation that explains an outcome."""
    return next((each for each in DEVIATIONS if each.holds(name, mode, outcome)), None)
