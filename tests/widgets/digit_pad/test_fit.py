"""Fitting a drawing as MNIST's digits were: box of 20, centre of mass in the middle."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from widgets.digit_pad.fit import area_resize, fit_digit


def test_no_ink_gives_zeros() -> None:
    for picture in (np.zeros((280, 280)), np.zeros((0, 5))):
        result = fit_digit(picture)
        assert result.shape == (28, 28)
        assert result.dtype == np.float32
        assert not result.any()


def test_a_square_fills_the_box_in_the_middle() -> None:
    picture = np.zeros((280, 280))
    picture[3:103, 150:250] = 1
    result = fit_digit(picture)
    rows, columns = np.nonzero(result)
    # Twenty pixels around pixel 14: 4.5 to 24.5 rounds to one of its neighbours.
    assert np.ptp(rows) + 1 == np.ptp(columns) + 1 == 20
    assert abs(rows.mean() - 14) <= 0.5
    assert abs(columns.mean() - 14) <= 0.5
    assert result.max() == 1


def test_proportions_are_kept() -> None:
    picture = np.zeros((280, 280))
    picture[20:220, 100:130] = 1
    rows, columns = np.nonzero(fit_digit(picture))
    assert (np.ptp(rows) + 1, np.ptp(columns) + 1) == (20, 3)


def test_position_and_size_of_the_drawing_do_not_matter() -> None:
    digit = np.zeros((40, 30))
    digit[5:10, 5:25] = digit[10:35, 15:20] = 1
    near, far = np.zeros((280, 280)), np.zeros((300, 200))
    near[:40, :30] = digit
    far[100:260, 20:140] = np.kron(digit, np.ones((4, 4)))
    np.testing.assert_allclose(fit_digit(near), fit_digit(far), atol=1e-6)


def test_lopsided_ink_stays_inside() -> None:
    picture = np.zeros((100, 100))
    picture[10:90, 10:14] = 1
    picture[88:90, 10:90] = 1
    picture[60:90, 10:40] = 1
    result = fit_digit(picture)
    assert (result.max(axis=0) > 0).sum() == 20
    assert (result.max(axis=1) > 0).sum() == 20


def test_area_resize_keeps_the_mean_and_averages() -> None:
    picture = np.random.default_rng(0).random((50, 70))
    assert area_resize(picture, 20, 28).mean() == pytest.approx(picture.mean())
    np.testing.assert_allclose(area_resize(np.array([[0.0, 3.0, 6.0]]), 1, 2), [[1.0, 5.0]])


def test_wrong_pictures_are_named() -> None:
    with pytest.raises(ValueError, match=r"2-d: shape \(2, 2, 3\)"):
        fit_digit(np.zeros((2, 2, 3)))
    with pytest.raises(ValueError, match="NaN"):
        fit_digit(np.full((3, 3), np.nan))


def test_mnist_digits_come_back_as_they_are() -> None:
    file = Path(os.environ.get("MODEL_STUDIO_DATA", "")) / "mnist" / "t10k-images-idx3-ubyte.gz"
    if not file.is_file():
        pytest.skip("MODEL_STUDIO_DATA holds no MNIST")
    raw = np.frombuffer(gzip.decompress(file.read_bytes())[16 : 16 + 500 * 784], np.uint8)
    differences = []
    for digit in raw.reshape(-1, 28, 28) / 255:
        big = np.zeros((400, 400))
        big[60:340, 90:370] = np.kron(digit, np.ones((10, 10)))
        differences.append(np.abs(fit_digit(big) - digit).mean())
    # Where the centre of mass lies between two pixels, the rounding may fall the other way.
    assert np.mean(np.array(differences) < 1e-3) > 0.98
    assert np.mean(differences) < 0.002


def test_fit_needs_no_qt() -> None:
    code = "import sys; import widgets.digit_pad.fit; sys.exit(any('PySide' in name for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
