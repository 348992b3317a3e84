"""Thresholds of tensors and weights by NumPy alone: streaming over batches, with bounded memory."""

from engine.quantization.calibration.bias import bias_correction
from engine.quantization.calibration.calibrator import FEWEST_BITS, MOST_BITS, Calibrator, levels
from engine.quantization.calibration.histograms import Divergence, PaddleDivergence, Percentile
from engine.quantization.calibration.maxima import AbsMax, Average, MinMax
from engine.quantization.calibration.searched import EarthMover, PowersOfTwo, SquaredError
from engine.quantization.calibration.weights import weight_thresholds

# Under Paddle's names of the algorithms; what Paddle's classes call KL is paddle_KL.
ALGORITHMS: dict[str, type[Calibrator]] = {
    "KL": Divergence,
    "paddle_KL": PaddleDivergence,
    "hist": Percentile,
    "avg": Average,
    "mse": SquaredError,
    "emd": EarthMover,
    "abs_max": AbsMax,
    "min_max": MinMax,
    "ptf": PowersOfTwo,
}

__all__ = [
    "ALGORITHMS",
    "FEWEST_BITS",
    "MOST_BITS",
    "Calibrator",
    "bias_correction",
    "levels",
    "weight_thresholds",
]
