"""What a runtime of ONNX can't run of the operator table: ``(operator or case, runtime)`` with the reason.

Runtimes are ``onnxruntime`` and ``reference``; ``unknown`` is a case that is not written with unknown shapes,
``written`` one that is not written at all.
"""

from __future__ import annotations

from collections.abc import Iterator

_NOTHING = "ONNX Runtime fails, or stops the process, in a Scan over tensors without elements"

_LENGTHS = "the reference evaluator ignores the lengths of sequences"
_RELU = "the reference evaluator has no Relu in RNN"


def _recurrent() -> Iterator[tuple[tuple[str, str], str]]:
    for mode, rows in (("LSTM", 8), ("GRU", 6), ("RNN_TANH", 2), ("RNN_RELU", 2)):
        reason = _RELU if mode == "RNN_RELU" else _LENGTHS
        cell = "2x2" if mode == "LSTM" else "none"
        weights = f"{rows}x2,{rows}x2"
        yield (f"rnn(3x2x2,{weights},none,none,none,none,2;mode={mode})", "reference"), reason
        given = f"rnn(3x2x2,{weights},{rows},{rows},2x2,{cell}"
        for reverse in (False, True):
            yield (f"{given},2;mode={mode},is_reverse={reverse})", "reference"), reason
            if reason is _RELU:
                yield (f"{given},none;mode={mode},is_reverse={reverse})", "reference"), reason
    yield ("rnn(3x2x2,8x2,8x2,8,8,2x2,2x2,2;mode=LSTM)", "reference"), _LENGTHS


_POSITIONS = "MaxPool has positions of windows of one size only, and they follow from the image's size"
_NAN = "a maximum skips NaN there"

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("affine_grid(2x2x3,4;align_corners=False)", "writing"): "the size of the grid is a tensor",
    **{
        (
            f"bicubic_interp_v2(1x3x3x1,none,none;out_h=4,out_w=2,align_corners=True,data_layout={layout})",
            name,
        ): ("ONNX Runtime moves the transpose behind the Resize and then refuses it")
        for layout, name in [("NHWC", "onnxruntime")]
    },
    ("conv2d_transpose(1x1x3x2,1x2x2x2;strides=[3, 2],output_size=[9, 5])", "unknown"): "its size decides",
    (
        "conv2d_transpose(1x2x3x3,2x2x3x2;padding_algorithm=SAME,strides=[2, 1])",
        "unknown",
    ): "its size decides",
    ("conv3d_transpose(1x1x2x2x2,1x1x2x2x2;strides=[2, 2, 2],output_size=[5, 4, 5])", "unknown"): (
        "its size decides"
    ),
    ("conv2d_transpose(2x4x2x3,4x2x2x2;groups=2)", "reference"): "wrong for groups and several samples",
    ("grid_sampler", "reference"): "it knows the names of the modes of opset 20 only",
    ("grid_sampler(1x2x2x3x3,1x2x2x1x3)", "writing"): "opset 17 samples images, not volumes",
    **dict.fromkeys(
        (
            (
                "multiclass_nms3(1x6x4,1x2x6;score_threshold=0.0,nms_top_k=-1,keep_top_k=4,nms_threshold=0.7,"
                "nms_eta=0.5,background_label=1,normalized=False)",
                "writing",
            ),
            (
                "generate_proposals_v2(2x3x2x2,2x12x2x2,2x2,2x2x3x4,2x2x3x4;nms_thresh=0.7,eta=0.8,"
                "pre_nms_topN=8,post_nms_topN=4)",
                "writing",
            ),
        ),
        "ONNX has one threshold",
    ),
    ("temporal_shift", "unknown"): "the number of channels decides which are moved",
    ("log_softmax(2)", "reference"): "it computes the logarithm of 0",
    ("max_pool2d_with_index(1x1x2x4;ksize=[2, 2],strides=[2, 2])", "onnxruntime"): _NAN,
    ("max_pool2d_with_index(1x1x2x4;ksize=[2, 2],strides=[2, 2])", "reference"): _NAN,
    ("pool2d(1x1x2x4;pooling_type=max,ksize=[2, 2],strides=[2, 2])", "onnxruntime"): _NAN,
    ("pool2d(1x1x2x4;pooling_type=max,ksize=[2, 2],strides=[2, 2])", "reference"): _NAN,
    **dict.fromkeys(
        (
            ("max_pool2d_with_index(1x1x5x5;ksize=[2, 2],strides=[2, 2],ceil_mode=True)", "unknown"),
            ("max_pool2d_with_index(1x2x3x4;ksize=[1, 1],global_pooling=True)", "unknown"),
            ("max_pool2d_with_index(1x2x4x6;ksize=[2, 3],adaptive=True)", "unknown"),
            ("max_pool2d_with_index(1x2x5x4;ksize=[2, 3],adaptive=True)", "writing"),
            ("max_pool2d_with_index(1x2x5x4;ksize=[2, 3],adaptive=True)", "unknown"),
            ("max_pool2d_with_index(1x1x2x3;ksize=[3, 4],adaptive=True)", "writing"),
            ("max_pool2d_with_index(1x1x2x3;ksize=[3, 4],adaptive=True)", "unknown"),
            ("max_pool3d_with_index(1x1x3x3x3;ksize=[2, 2, 2],strides=[2, 2, 2],ceil_mode=True)", "unknown"),
            ("max_pool3d_with_index(1x2x2x3x2;ksize=[1, 1, 1],global_pooling=True)", "unknown"),
            ("max_pool3d_with_index(1x1x4x3x2;ksize=[2, 2, 1],adaptive=True)", "writing"),
            ("max_pool3d_with_index(1x1x4x3x2;ksize=[2, 2, 1],adaptive=True)", "unknown"),
            ("max_pool3d_with_index(1x2x3x4x5;ksize=[2, 3, 3],adaptive=True)", "unknown"),
        ),
        _POSITIONS,
    ),
    ("pad3d(1x2x2x3x2,none;paddings=[2, 1, 0, 4, 1, 3],mode=circular)", "unknown"): (
        "beyond the image's size, which is not known"
    ),
    ("pool3d(1x2x2x3x2;pooling_type=max,ksize=[1, 1, 1],global_pooling=True)", "reference"): (
        "its GlobalMaxPool of volumes is wrong"
    ),
    ("tanh_shrink(0d)", "onnxruntime"): "x - tanh(x) loses digits near 0, others than here",
    **{
        (case, "unknown"): _NOTHING
        for case in (
            "cummax(0x3;axis=0)",
            "cummax(0x3;axis=1)",
            "cummin(0x3;axis=0)",
            "cummin(0x3;axis=1)",
            "cumprod(0x3;dim=0)",
            "cumprod(0x3;dim=1)",
            "gather_tree(0x2x2,0x2x2)",
            "logcumsumexp(0x3;axis=0)",
            "logcumsumexp(0x3;axis=1)",
        )
    },
    **dict(_recurrent()),
    (
        "conv2d_transpose_integer(2x2x3x4,4x2x2x2,4,4;bits=[8, 8],"
        "groups=2,output_padding=[1, 0],strides=[2, 1],data_format=NHWC,activation=relu)",
        "reference",
    ): "the reference evaluator has no groups in ConvTranspose",
    ("reduce_mean(0x3;axis=[0])", "unknown"): "the mean of nothing is NaN here, and 0 in ONNX Runtime",
    **{
        (case, "writing"): "the threshold of suppression falls, ONNX has one that does not"
        for case in (
            "generate_proposals_v2(2x3x2x2,2x12x2x2,2x2,2x2x3x4,2x2x3x4;nms_thresh=0.7,eta=0.8,pre_nms_topN=8,post_nms_topN=4)",
            "multiclass_nms3(1x6x4,1x2x6;score_threshold=0.0,nms_top_k=-1,keep_top_k=4,nms_threshold=0.7,nms_eta=0.5,background_label=1,normalized=False)",
        )
    },
    ("flatten_contiguous_range(0x3x2)", "reference"): "its Flatten fails without elements",
    ("roi_pool", "reference"): "the reference evaluator has no MaxRoiPool",
    ("roi_pool", "writing"): "the positions of the maxima, which gradients need, are not written",
    ("unstack(2x0;axis=1,num=0)", "onnxruntime"): "it refuses a model without results",
}
