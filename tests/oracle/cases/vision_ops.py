"""paddle.vision.ops: boxes, regions, deformable convolution: values, gradients, layers, refusals."""

_V = "paddle.vision.ops"
_SIZES = "paddle.to_tensor([[60, 90], [70, 80]], dtype='int32')"
_HEAD = "t([2, 14, 2, 3]) * 2"
_ANCHORS = "[10, 13, 16, 30]"
_GT = (
    "paddle.to_tensor([[[0.3, 0.4, 0.3, 0.2], [0.71, 0.8, 0.5, 0.6], [0, 0, 0, 0]], "
    "[[0.55, 0.2, 0.9, 0.8], [0.6, 0.21, 0.1, 0.12], [0.2, 0.9, 0.25, 0.3]]])"
)
_LABELS = "paddle.to_tensor([[0, 2, 1], [1, 0, 2]], dtype='int32')"
_YOLO = "[10, 13, 30, 20, 33, 60, 60, 45], [0, 2, 3], 3"
_BOXES = (
    "paddle.to_tensor([[0, 0, 10, 10], [1, 1, 11, 11], [0, 0, 9.5, 9], [20, 20, 30, 31], [8, 8, 19, 19], "
    "[21, 19, 30, 30]])"
)
_ROIS = (
    "paddle.to_tensor([[0.5, 1.0, 6.3, 5.2], [2.2, 0.3, 3.1, 7.9], [-1.5, 3.0, 4.0, 9.5], "
    "[4.0, 4.0, 4.2, 4.1]])"
)
_NUMBERS = "paddle.to_tensor([1, 3], dtype='int32')"


def _loss(x: str, more: str = "") -> str:
    return f"{_V}.yolo_loss({x}, {_GT}, {_LABELS}, {_YOLO}, 0.5, 16{more})"


CALLS: dict[str, str] = {
    "yolo_box": f"{_V}.yolo_box({_HEAD}, {_SIZES}, {_ANCHORS}, 2, 0.3, 16)",
    "yolo_box/unclipped": f"{_V}.yolo_box({_HEAD}, {_SIZES}, {_ANCHORS}, 2, 0.01, 16, clip_bbox=False)",
    "yolo_box/scale": f"{_V}.yolo_box({_HEAD}, {_SIZES}, {_ANCHORS}, 2, 0.5, 16, scale_x_y=1.2)",
    "yolo_box/iou aware": f"{_V}.yolo_box(t([2, 16, 2, 3]) * 2, {_SIZES}, {_ANCHORS}, 2, 0.3, 16, "
    "iou_aware=True, iou_aware_factor=0.4)",
    "yolo_box/float64": f"{_V}.yolo_box(t([2, 14, 2, 3], 'float64'), {_SIZES}, {_ANCHORS}, 2, 0.3, 16)",
    "yolo_box/raises for channels": f"{_V}.yolo_box(t([2, 13, 2, 3]), {_SIZES}, {_ANCHORS}, 2, 0.3, 16)",
    "yolo_box/raises for batch": f"{_V}.yolo_box(t([3, 14, 2, 3]), {_SIZES}, {_ANCHORS}, 2, 0.3, 16)",
    "yolo_box/raises for anchors": f"{_V}.yolo_box({_HEAD}, {_SIZES}, [10, 13, 16], 2, 0.3, 16)",
    "yolo_loss": _loss("t([2, 24, 4, 4])"),
    "yolo_loss/larger values": _loss("t([2, 24, 4, 4]) * 4"),
    "yolo_loss/hard labels": _loss("t([2, 24, 4, 4])", ", use_label_smooth=False"),
    "yolo_loss/scores": _loss("t([2, 24, 4, 4])", ", gt_score=pos([2, 3])"),
    "yolo_loss/scale": _loss("t([2, 24, 4, 4])", ", scale_x_y=1.2"),
    "yolo_loss/gradient": "grad(lambda x: " + _loss("x") + ", t([2, 24, 4, 4]))",
    "yolo_loss/gradient of scores": "grad(lambda x: "
    + _loss("x", ", gt_score=pos([2, 3])")
    + ", t([2, 24, 4, 4]) * 2)",
    "yolo_loss/raises for channels": _loss("t([2, 23, 4, 4])"),
    "yolo_loss/raises for boxes": f"{_V}.yolo_loss(t([2, 24, 4, 4]), t([2, 3, 5]), {_LABELS}, {_YOLO}, 0.5, "
    "16)",
    "nms": f"{_V}.nms({_BOXES}, 0.3)",
    "nms/default": f"{_V}.nms({_BOXES})",
    "nms/high": f"{_V}.nms({_BOXES}, 0.9)",
    "nms/scores": f"{_V}.nms({_BOXES}, 0.3, t([6], seed=1))",
    "nms/categories": f"{_V}.nms({_BOXES}, 0.3, t([6], seed=1), paddle.to_tensor([0, 1, 0, 1, 0, 1]), [0, "
    "1])",
    "nms/top_k": f"{_V}.nms({_BOXES}, 0.3, t([6], seed=1), paddle.to_tensor([0, 1, 0, 1, 0, 1]), [0, 1], 2)",
    "nms/raises for boxes": f"{_V}.nms(t([3, 5]))",
    "prior_box": f"{_V}.prior_box(t([1, 2, 2, 3]), t([1, 3, 20, 24]), [4.0, 8.0])",
    "prior_box/all": f"{_V}.prior_box(t([1, 2, 3, 2]), t([1, 3, 20, 24]), [4.0], [9.0], [1.0, 2.0, 0.7], "
    "[0.1, 0.2, 0.3, 0.4], flip=True, clip=True, steps=[7.0, 6.0], offset=0.3)",
    "prior_box/order": f"{_V}.prior_box(t([1, 2, 1, 2]), t([1, 3, 20, 24]), [4.0, 5.0], [9.0, 7.0], [2.0], "
    "min_max_aspect_ratios_order=True)",
    "prior_box/raises for steps": f"{_V}.prior_box(t([1, 2, 1, 2]), t([1, 3, 20, 24]), [4.0], steps=[1.0])",
    "box_coder/encode": f"{_V}.box_coder({_BOXES}[:3] / 10 + 0.1, pos([3, 4]), {_BOXES}[2:] / 10 + 0.2)",
    "box_coder/encode pixels": f"{_V}.box_coder({_BOXES}[:3], [0.1, 0.1, 0.2, 0.2], {_BOXES}[2:], "
    "box_normalized=False)",
    "box_coder/decode": f"{_V}.box_coder({_BOXES}[:3] / 10, pos([3, 4]), t([2, 3, 4]), 'decode_center_size')",
    "box_coder/decode rows": f"{_V}.box_coder({_BOXES}[:3], pos([3, 4]), t([3, 2, 4]), 'decode_center_size', "
    "box_normalized=False, axis=1)",
    "box_coder/decode numbers": f"{_V}.box_coder({_BOXES}[:3], [0.1, 0.1, 0.2, 0.2], t([2, 3, 4]), "
    "'decode_center_size')",
    "box_coder/raises for the variance": f"{_V}.box_coder({_BOXES}, 0.1, {_BOXES})",
    "roi_align": f"{_V}.roi_align(t([2, 2, 7, 8]), {_ROIS}, {_NUMBERS}, (2, 3))",
    "roi_align/scale": f"{_V}.roi_align(t([2, 2, 7, 8]), {_ROIS}, {_NUMBERS}, 2, spatial_scale=0.8)",
    "roi_align/ratio": f"{_V}.roi_align(t([2, 2, 7, 8]), {_ROIS}, {_NUMBERS}, 2, sampling_ratio=2)",
    "roi_align/not aligned": f"{_V}.roi_align(t([2, 2, 7, 8]), {_ROIS}, {_NUMBERS}, 3, aligned=False)",
    "roi_align/gradient": f"grad(lambda x: {_V}.roi_align(x, {_ROIS}, {_NUMBERS}, (2, 3)), t([2, 2, 7, 8]))",
    "roi_align/raises for boxes": f"{_V}.roi_align(t([2, 2, 7, 8]), t([4, 5]), {_NUMBERS}, 2)",
    "RoIAlign": f"{_V}.RoIAlign(2, 0.5)(t([2, 2, 7, 8]), {_ROIS}, {_NUMBERS})",
    "roi_pool": f"{_V}.roi_pool(t([2, 2, 7, 8]), {_ROIS}, {_NUMBERS}, (2, 3))",
    "roi_pool/scale": f"{_V}.roi_pool(t([2, 2, 7, 8]), {_ROIS}, {_NUMBERS}, 2, spatial_scale=0.8)",
    "roi_pool/gradient": f"grad(lambda x: {_V}.roi_pool(x, {_ROIS}, {_NUMBERS}, 2), t([2, 2, 7, 8]))",
    "RoIPool": f"{_V}.RoIPool(2)(t([2, 2, 7, 8]), {_ROIS}, {_NUMBERS})",
    "RoIPool/text": f"str([{_V}.RoIPool(2), {_V}.RoIAlign(2), {_V}.PSRoIPool(2)])",
    "psroi_pool": f"{_V}.psroi_pool(t([2, 12, 7, 8]), {_ROIS}, {_NUMBERS}, (2, 3))",
    "psroi_pool/scale": f"{_V}.psroi_pool(t([2, 8, 7, 8]), {_ROIS}, {_NUMBERS}, 2, spatial_scale=0.8)",
    "psroi_pool/gradient": f"grad(lambda x: {_V}.psroi_pool(x, {_ROIS}, {_NUMBERS}, 2), t([2, 8, 7, 8]))",
    "PSRoIPool": f"{_V}.PSRoIPool(2)(t([2, 8, 7, 8]), {_ROIS}, {_NUMBERS})",
    "deform_conv2d": f"{_V}.deform_conv2d(t([2, 3, 5, 6]), t([2, 18, 3, 4], seed=1) * 2, t([4, 3, 3, 3], "
    "seed=2))",
    "deform_conv2d/mask": f"{_V}.deform_conv2d(t([2, 3, 5, 6]), t([2, 18, 3, 4], seed=1), t([4, 3, 3, 3], "
    "seed=2), t([4], seed=3), mask=pos([2, 9, 3, 4]))",
    "deform_conv2d/all": f"{_V}.deform_conv2d(t([1, 4, 7, 6]), t([1, 24, 3, 6], seed=1), t([4, 2, 2, 3], "
    "seed=2), stride=[2, 1], padding=[0, 2], dilation=[2, 2], deformable_groups=2, groups=2, mask=pos([1, "
    "12, 3, 6]))",
    "deform_conv2d/gradients": f"grad(lambda x, o, w, m: {_V}.deform_conv2d(x, o, w, mask=m), t([1, 2, 4, "
    "5]), t([1, 8, 3, 4], seed=1), t([3, 2, 2, 2], seed=2), pos([1, 4, 3, 4]))",
    "deform_conv2d/gradients without mask": f"grad(lambda x, o, w: {_V}.deform_conv2d(x, o, w, padding=1), "
    "t([1, 2, 3, 3]), t([1, 8, 4, 4], seed=1) * 2, t([3, 2, 2, 2], seed=2))",
    "deform_conv2d/raises for offset": f"{_V}.deform_conv2d(t([1, 2, 4, 5]), t([1, 6, 3, 4]), t([3, 2, 2, "
    "2]))",
    "deform_conv2d/raises for size": f"{_V}.deform_conv2d(t([1, 2, 4, 5]), t([1, 8, 4, 4]), t([3, 2, 2, 2]))",
    "DeformConv2D": f"layer = formula({_V}.DeformConv2D(2, 3, 2))\nlayer(t([1, 2, 4, 5]), t([1, 8, 3, 4], "
    "seed=1))",
    "DeformConv2D/mask": f"layer = formula({_V}.DeformConv2D(2, 3, 2, bias_attr=False))\n"
    "layer(t([1, 2, 4, 5]), t([1, 8, 3, 4], seed=1), pos([1, 4, 3, 4]))",
    "DeformConv2D/text": f"str({_V}.DeformConv2D(2, 3, 2))",
    "DeformConv2D/raises for groups": f"{_V}.DeformConv2D(3, 4, 2, groups=2)",
    "distribute_fpn_proposals": f"{_V}.distribute_fpn_proposals(paddle.to_tensor([[0, 0, 20, 30], [5, 5, "
    "300, 200], [0, 0, 7, 8], [1, 1, 100, 90], [3, 2, 1, 9.0]]), 2, 5, 4, 224, "
    "rois_num=paddle.to_tensor([2, 3], dtype='int32'))",
    "distribute_fpn_proposals/pixels": f"{_V}.distribute_fpn_proposals(paddle.to_tensor([[0, 0, 20, 30], "
    "[5, 5, 300, 200.0]]), 2, 4, 3, 40, pixel_offset=True, rois_num=paddle.to_tensor([1, 1], dtype='int32'))",
    "distribute_fpn_proposals/raises for rois_num": f"{_V}.distribute_fpn_proposals(t([2, 4]), 2, 4, 3, 40)",
    "matrix_nms": f"{_V}.matrix_nms(paddle.stack([{_BOXES}, {_BOXES} + 1.5]), pos([2, 3, 6]), 0.2, 0.1, 5, "
    "7, return_index=True)",
    "matrix_nms/gaussian": f"{_V}.matrix_nms({_BOXES}.unsqueeze(0), pos([1, 2, 6]), 0.0, 0.2, 6, 4, "
    "use_gaussian=True, background_label=1, normalized=False)",
    "matrix_nms/nothing": f"{_V}.matrix_nms({_BOXES}.unsqueeze(0), pos([1, 2, 6]), 5.0, 0.2, 6, 4)[1]",
    "read_file/raises": f"{_V}.read_file('no such file.jpg')",
    "ConvNormActivation/text": f"str({_V}.ConvNormActivation(3, 4, 3, stride=2))",
}
for _offset in (False, True):
    for _name, _more in {
        "": "",
        " few": ", pre_nms_top_n=7, post_nms_top_n=2",
        " eta": ", nms_thresh=0.8, eta=0.7",
    }.items():
        CALLS[f"generate_proposals/{_offset}{_name}"] = (
            f"a = np.arange(48).reshape(2, 2, 3, 4) % 7.0\na[..., 2:] += a[..., :2] + 3\n"
            f"list({_V}.generate_proposals(t([2, 3, 2, 2]), t([2, 12, 2, 2], seed=1), "
            "paddle.to_tensor([[9.0, 11.0], [8.0, 8.0]]), paddle.to_tensor(a.astype('float32')), "
            f"paddle.full([2, 2, 3, 4], 0.5), pixel_offset={_offset}, return_rois_num=True{_more}))"
        )
