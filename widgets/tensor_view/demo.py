"""`python -m widgets.tensor_view.demo`: the result of a convolution, some of whose numbers are not finite."""

from __future__ import annotations

import sys

import numpy as np

from widgets.demo import run_demo
from widgets.tensor_view import Block, Counts, Planes, Statistics, TensorView


def make() -> TensorView:
    """A tensor of 4 samples with 12 channels; the view asks for its parts, and a function answers."""
    random = np.random.default_rng(0)
    tensor = random.normal(size=(4, 12, 24, 24)).astype(np.float32)
    tensor[0, 3, 4:8, 6:9], tensor[0, 5, 0, 0] = np.nan, np.inf
    finite = tensor[np.isfinite(tensor)]
    view = TensorView()

    def show_image(sample: int, first: int) -> None:
        shown = tensor[sample]
        low, high = float(np.nanmin(shown)), float(np.nanmax(shown[np.isfinite(shown)]))
        view.set_planes(Planes(shown[first : first + 9], first, 12, sample, 4, low, high))

    def show_histogram() -> None:
        counts, edges = np.histogram(finite, bins=48)
        view.set_histogram(Counts(float(edges[0]), float(edges[-1]), tuple(counts.tolist()), 13))

    def show_statistics() -> None:
        figures = (float(each) for each in (finite.min(), finite.max(), finite.mean(), finite.std()))
        view.set_statistics(Statistics(tensor.size, 12, 1, 0, 0, *figures, bytes=tensor.nbytes))

    def show_block(row: int, rows: int, column: int, columns: int) -> None:
        table = tensor.reshape(-1, 24)
        view.set_block(Block(row, column, table[row : row + rows, column : column + columns]))

    view.image_wanted.connect(show_image)
    view.histogram_wanted.connect(show_histogram)
    view.statistics_wanted.connect(show_statistics)
    view.block_wanted.connect(show_block)
    view.set_tensor("conv2d_0.tmp_0", (4, 12, 24, 24), "float32", editable=True)
    return view


if __name__ == "__main__":
    sys.exit(run_demo(make, "Tensor", (520, 480)))
