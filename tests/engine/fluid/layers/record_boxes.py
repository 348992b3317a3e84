"""Records what Paddle's kernels of detection compute; run by an interpreter that has Paddle.

``python tests/engine/fluid/layers/record_boxes.py`` writes ``recorded_boxes.json`` next to this file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

VARIANCE = [0.1, 0.1, 0.2, 0.3]


def boxes(count: int, seed: int) -> Any:
    """Corners within 0 and 1."""
    rng = np.random.default_rng(seed)
    return np.sort(rng.uniform(0, 1, (count, 2, 2)), axis=1).reshape(count, 4).round(4).astype(np.float32)


def scores(*shape: int) -> Any:
    return np.random.default_rng(7).uniform(0, 1, shape).round(4).astype(np.float32)


DENSITY: list[dict[str, Any]] = [
    {"fixed_sizes": [4.0, 8.0], "fixed_ratios": [1.0, 2.0], "densities": [2, 1]},
    {
        "fixed_sizes": [5.0],
        "fixed_ratios": [0.5],
        "densities": [3],
        "step_w": 3.5,
        "step_h": 4.0,
        "clip": True,
        "offset": 0.3,
    },
]
ANCHORS: list[dict[str, Any]] = [
    {"anchor_sizes": [8.0, 16.0], "aspect_ratios": [0.5, 1.0, 3.0], "stride": [4.0, 4.0]},
    {"anchor_sizes": [10.0], "aspect_ratios": [2.0], "stride": [3.0, 5.0], "offset": 0.2},
]
KEEPING: list[dict[str, Any]] = [
    {"score_threshold": 0.1, "nms_top_k": -1, "keep_top_k": -1},
    {"score_threshold": 0.3, "nms_top_k": 6, "keep_top_k": 7, "nms_threshold": 0.15, "background_label": -1},
    {
        "score_threshold": 0.0,
        "nms_top_k": 8,
        "keep_top_k": 10,
        "nms_threshold": 0.7,
        "nms_eta": 0.6,
        "normalized": False,
        "background_label": 2,
    },
    {"score_threshold": 2.0, "nms_top_k": 8, "keep_top_k": 10},
]
KEPT = {"nms_threshold": 0.3, "nms_eta": 1.0, "normalized": True, "background_label": 0}


def main() -> None:
    import paddle
    from paddle import _legacy_C_ops as kernels

    def run(name: str, inputs: list[Any], **options: Any) -> Any:
        given = [None if a is None else paddle.to_tensor(a) for a in inputs]
        made = getattr(kernels, name)(*given, *(each for pair in options.items() for each in pair))
        made = made if isinstance(made, (list, tuple)) else [made]
        return [v.numpy().round(7).astype(float).tolist() for v in made]

    feature, image = np.zeros((1, 3, 2, 3), np.float32), np.zeros((1, 3, 8, 12), np.float32)
    found: dict[str, Any] = {
        "paddle": paddle.__version__,
        "density_prior_box": [
            run("density_prior_box", [feature, image], variances=VARIANCE, **{"offset": 0.5, **options})
            for options in DENSITY
        ],
        "anchor_generator": [
            run("anchor_generator", [feature], variances=VARIANCE, **{"offset": 0.5, **options})
            for options in ANCHORS
        ],
        "iou_similarity": [
            run("iou_similarity", [boxes(5, 1) * scale, boxes(4, 2) * scale], box_normalized=bool(scale == 1))
            for scale in (np.float32(1), np.float32(9))
        ],
        "polygon_box_transform": run("polygon_box_transform", [scores(2, 4, 2, 3)]),
        "multiclass_nms": [
            run(
                "multiclass_nms",
                [np.stack([boxes(9, 3), boxes(9, 4)]), scores(2, 4, 9)],
                **{**KEPT, **options},
            )
            for options in KEEPING
        ],
    }
    path = Path(__file__).with_name("recorded_boxes.json")
    path.write_text(
        "{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in found.items()) + "\n}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
