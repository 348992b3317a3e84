"""An image file is fed to a model of own images as its training read it."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from engine.training.sources.images.folder import as_pixels
from engine.training.sources.preparing.prepare import resized
from studio.session.predict.image_fitting import placed, placings_of, read_for
from studio.session.predict.model_input import ModelInput

PLACINGS = {"stretch": "stretch", "crop": "cover", "pad": "whole"}


def image(mode: str) -> Image.Image:
    drawn = np.random.default_rng(0)
    if mode == "I;16":
        return Image.fromarray(drawn.integers(20_000, 40_000, (61, 120)).astype(np.uint16))
    return Image.fromarray(drawn.integers(0, 256, (61, 120, 4)).astype(np.uint8), "RGBA").convert(mode)


@pytest.mark.parametrize("fit", list(PLACINGS))
@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "LA", "P", "I;16"])
@pytest.mark.parametrize("channels", [1, 3])
def test_modes_and_sizes_are_those_of_the_training(fit: str, mode: str, channels: int) -> None:
    asked = ModelInput(
        "x", "float32", (channels, 32, 32), form="picture", channels=channels, height=32, width=32,
        layout="CHW", placing=PLACINGS[fit], of_images=True,
    )  # fmt: skip
    file = io.BytesIO()
    image(mode).save(file, "PNG")
    with Image.open(file) as opened:
        trained = resized(as_pixels(opened, channels == 1), 32, fit).astype(np.float32) / 255
    values = read_for(asked, file.getvalue(), "a.png")
    fed = placed(values, asked, placings_of(asked)[0], False, "a.png").reshape(trained.shape)
    np.testing.assert_allclose(fed, trained, atol=1e-6)


def test_the_middle_is_cut_out_of_any_proportions() -> None:
    rows = np.arange(40, dtype=np.float32)[:, None].repeat(100, 1) / 40
    asked = ModelInput("x", "float32", (1, 20, 10), form="picture", channels=1, height=20, width=10)
    found = placed(rows, asked, "cover", False, "a")
    assert found.shape == (20, 10)
    assert found[1:-1, 0] == pytest.approx(np.linspace(2.5, 36.5, 18) / 40)
