"""Where the engine deliberately differs from Paddle 2.6.2: the recorded call, and the reason.

Keys are ``FAMILY:NAME``; a call listed here must really differ. Not listed: where Paddle's internals raise
RuntimeError, OSError, AssertionError, ... for a wrong argument, the engine raises one of its own errors
(``accepted`` in compare.py). ``python -m docs.paddle_scripts`` writes them into the guide.
"""

from tests.oracle.deviations_faults import FAULTS
from tests.oracle.deviations_layers import LAYERS
from tests.oracle.deviations_static import STATIC
from tests.oracle.deviations_tensors import TENSORS

DEVIATIONS: dict[str, str] = {
    **TENSORS,
    **STATIC,
    **FAULTS,
    **LAYERS,
    "quantization_api:own/layer": (
        "Paddle's converted network rounds otherwise than the trained one; here both round alike"
    ),
    **dict.fromkeys(
        ["sparse:subtract/gradient", "sparse:subtract/gradient csr"],
        "Paddle takes the gradient of y from the first elements of the result, wherever they stand",
    ),
    "drawn:binary_cross_entropy_with_logits/pos_weight": (
        "the whole loss of label 1 counts pos_weight times, as documented; in Paddle's kernel the linear "
        "part of a negative logit does not: logit -0.9, label 1, pos_weight 3: 1.92, here 3.72"
    ),
    "drawn:cov/program": "Paddle's Program divides by 0 for one row; the engine gives what both give eagerly",
    "sparse:sum/integers": "Paddle's result says int64 and holds values of int32",
    "sparse:BatchNorm/eval after train": (
        "Paddle keeps the statistics of the first call's mode; eval() means the running ones here"
    ),
    "static_files:save_inference_model/raises in eager mode": (
        "a Program is saved in either mode; Paddle only does it between enable_static and disable_static"
    ),
    "static_parts:auc/precision and recall": (
        "Paddle's kernel gives the area under ROC whatever the curve; the engine's is that of the curve"
    ),
    "derivatives:vjp/x itself": (
        "Paddle loses the gradient of a result that is x itself, [3, 12]; the engine's is [4, 13]"
    ),
    "derivatives:program/gradient of jvp": (
        "Paddle's second derivative in a Program misses a part, [4, 8]; the engine's is [6, 12]"
    ),
    "autograd_more:PyLayer/not in place": (
        "Paddle makes the input no leaf although mark_not_inplace says that it stays as it is"
    ),
    **dict.fromkeys(
        ["optimizers_more:Momentum/rescale", "optimizers_more:Momentum/nesterov and rescale"],
        "Paddle's CPU kernel leaves out rescale_grad; the engine multiplies as the documentation says",
    ),
    **dict.fromkeys(
        [
            "cumulative:trapezoid/gradient 1",
            "cumulative:trapezoid/gradient -1",
            "cumulative:trapezoid/gradient of both",
            "cumulative:cumulative_trapezoid/gradient of both",
            "cumulative:diff/gradient",
        ],
        "Paddle's gradient through overlapping slices along an inner axis is wrong; the engine's is that of "
        "the value (checked numerically)",
    ),
    **dict.fromkeys(
        [
            f"quantization:{name}/nan behind"
            for name in (
                "fake_quantize_abs_max",
                "fake_quantize_dequantize_abs_max",
                "fake_channel_wise_quantize_abs_max",
                "fake_channel_wise_quantize_dequantize_abs_max",
                "fake_quantize_moving_average_abs_max",
                "fake_quantize_dequantize_moving_average_abs_max",
                "moving_average_abs_max_scale",
            )
        ],
        "the threshold of values with NaN is NaN; in Paddle only where the first of them is NaN",
    ),
    "quant_layers:lsq/activation, offset that follows": (
        "the offset follows the offsets that were found; Paddle moves it towards the step instead"
    ),
    "quant_layers:lsq/weight, channels that follow": (
        "steps follow the steps that were found; Paddle's second one is 0.9 * (2^bits - 1) times that"
    ),
    "quant_layers:lsq/weight, channels of a linear layer": (
        "each output of a linear layer has its own step; Paddle gives the steps to other elements"
    ),
    "linalg:triangular_solve/gradient transposed": (
        "a diagonal taken for ones has no gradient; Paddle gives it one"
    ),
    "math:angle/special values": "the angle of NaN is NaN; Paddle gives 0",
    "math:heaviside/nan": "the step of NaN is NaN; Paddle gives 0",
    **dict.fromkeys(
        ["math:maximum/nan", "reduce:max/nan"],
        "NaN stays where either is NaN; in Paddle it depends on the order of the elements",
    ),
    **dict.fromkeys(
        ["math:stanh/float64", "math:stanh/gradient"],
        "Paddle rounds scale_a and scale_b to float32 even for float64; the engine keeps them",
    ),
    "math:atan2/int64": "Paddle computes with single precision for whole numbers, and gives float64",
    "math:divide/int64": "whole numbers divide like floating ones; Paddle's divide (not its /) cuts them off",
    **dict.fromkeys(
        ["reduce:prod/gradient at 0", "reduce:prod/gradient at two zeros"],
        "Paddle divides by the element and gives NaN at 0; the engine gives the product of the others",
    ),
    "reduce:nanmedian/int64": "the mean of two middle numbers keeps its half; Paddle cuts it off",
    "reduce:bincount/empty with minlength": "an empty x too has minlength counts; Paddle gives none",
    "special:digamma/poles": "digamma is infinite at 0, as in torch; Paddle gives NaN",
    "autograd:set grad": "stop_gradient is False however a gradient came about; in Paddle that varies",
    "activation:log_softmax/wide": "Paddle cuts log_softmax off at -64; the engine gives the true value",
    "activation:selu/float64": (
        "Paddle rounds scale and alpha to float32 even for float64; the engine keeps them"
    ),
    "activation:hardsigmoid/float64": (
        "Paddle rounds slope and offset to float32 even for float64; the engine keeps them"
    ),
    **dict.fromkeys(
        [f"operators:bool {op} {n}" for op in ("+", "-", "*", "==", "!=") for n in ("2", "-2")],
        "Paddle casts the number to bool, so that True + 2 is True; the engine counts with int64",
    ),
    **dict.fromkeys(
        [
            "operators:int32 + int64",
            "operators:int32 * int64",
            "operators:int64 + float32",
            "operators:int64 * float32",
            "operators:bool * float32",
            "operators:float32 / float64",
            "operators:int64 / float32",
            "operators:bool / float32",
            "operators:bool < float32",
        ],
        "Paddle 2.6 takes the left operand's dtype where two differ and loses the fraction (later versions "
        "refuse); the engine takes the wider one",
    ),
    "operators:gradient/mod": "Paddle's % gives no gradient; the engine's is that of x - y * floor(x / y)",
    "operators:iterate/0-d": "Paddle walks over nothing and loses the number; the engine refuses",
    "creation:dtype/text": (
        "repr() of a dtype is paddle.int64 as in Paddle's documents, not <VarType.INT64: 3>"
    ),
    "losses:mse_loss/square": (
        "Paddle takes each prediction [3, 1] with each label [3]; the engine refuses to broadcast both"
    ),
    "losses:with_logits/gradient": (
        "Paddle's gradient with pos_weight is not that of its loss; the engine's is (torch agrees)"
    ),
    "signatures:paddle.Tensor.numpy": "Paddle's is bound from C++ and does not show the argument it takes",
    "static_programs:parameter/raises dtype": "a dtype may have any name that NumPy knows, as elsewhere",
    "pool:max_pool1d/infinite": (
        "Paddle compares with the smallest finite number first; the maximum of minus infinities is minus "
        "infinity"
    ),
    "pool:max_pool2d/infinite": (
        "Paddle compares with the smallest finite number first; the maximum of minus infinities is minus "
        "infinity"
    ),
    "pool:max_pool3d/infinite": (
        "Paddle compares with the smallest finite number first; the maximum of minus infinities is minus "
        "infinity"
    ),
    "norm:SpectralNorm/gradient": (
        "Paddle's gradient is right for equal incoming gradients only; the engine's is that of the value "
        "(checked numerically)"
    ),
    **dict.fromkeys(
        ["signatures:paddle.no_grad", "signatures:paddle.enable_grad"],
        "takes a function too, so that it decorates without parentheses",
    ),
    "signatures:paddle.nn.LSTM": "takes proj_size too, as in Paddle 3",
    "signatures:paddle.nn.LSTMCell": "takes proj_size too, as in Paddle 3",
    "signatures:paddle.seed": "takes the kind of generator too (decision 0039)",
    "signatures:paddle.Tensor.clone": "the function's form is the method: it takes the name too",
    "signatures:paddle.Tensor.clear_grad": "takes set_to_zero, as clear_gradient does",
    "detection:yolo_loss/two boxes in one cell": (
        "Paddle's gradient counts the last of several boxes in one cell only; the engine's is of the value"
    ),
    "transforms:affine/center, Tensor": (
        "Paddle takes the width of a Tensor for its height where it reckons with the center"
    ),
    "paths:device/all types": "Paddle built for the CPU names no type of device at all; the engine says cpu",
    "resample:grid_sample/nearest zeros True volume": (
        "Paddle loses elements of a volume that are inside; the engine gives them, as torch does"
    ),
    "resample:grid_sample/nearest zeros True volume gradient": (
        "Paddle loses elements of a volume that are inside; the engine gives them, as torch does"
    ),
    "resample:grid_sample/nearest zeros False volume": (
        "Paddle loses elements of a volume that are inside; the engine gives them, as torch does"
    ),
    "resample:grid_sample/nearest zeros False volume gradient": (
        "Paddle loses elements of a volume that are inside; the engine gives them, as torch does"
    ),
    "elementwise:lerp/gradient": "Paddle has no gradient with respect to the weight of lerp; the engine has",
    "elementwise:maximum/nan": "Paddle's maximum overlooks a nan on the left; in the engine a nan wins",
    "more:TripletMarginWithDistanceLoss": "Paddle's layer forgets its distance_function; the engine uses it",
    "loss:multi_margin_loss/weight none": (
        "Paddle subtracts [N, 1] from [N] and gives [N, N]; the engine gives one loss a sample"
    ),
    "loss:multi_margin_loss/weight square": (
        "Paddle takes the label's own class off without its weight squared; the engine leaves it out"
    ),
    "vision_ops:roi_align/gradient": (
        "Paddle's gradient of boxes narrower than a pixel is not that of its value (it widens them); the "
        "engine's is"
    ),
    **dict.fromkeys(
        [
            "losses:hsigmoid_loss",
            "more:HSigmoidLoss",
            "loss:hsigmoid_loss",
            "loss:hsigmoid_loss/no bias",
            "loss:hsigmoid_loss/own tree",
            "loss:Layer/HSigmoidLoss",
        ],
        "Paddle adds log(2) for each node by which a way is shorter than the longest; the engine does not",
    ),
}
