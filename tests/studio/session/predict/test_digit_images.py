"""Any image of a digit becomes the 28x28 image that a model is fed; other files are refused."""

from __future__ import annotations

import gzip
import io
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from studio.session.predict import digit_images
from studio.session.predict.digit_images import (
    ImageError,
    bright_on_dark,
    digit_from_bytes,
    fit_digit,
    read_file,
)


def stroke(side: int = 200, width: int = 20) -> Image.Image:
    """A white L on black, off the middle."""
    image = Image.new("L", (side, side), 0)
    draw = ImageDraw.Draw(image)
    draw.rectangle((20, 10, 20 + width, 110), fill=255)
    draw.rectangle((20, 90, 80, 110), fill=255)
    return image


def as_bytes(image: Image.Image, kind: str = "PNG", **words: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **words)
    return stream.getvalue()


def test_a_digit_is_scaled_to_20_and_its_mass_put_on_pixel_14() -> None:
    image = digit_from_bytes(as_bytes(stroke()), "test")
    assert (image.shape, image.dtype) == ((28, 28), np.float32)
    rows, columns = np.nonzero(image.max(axis=1))[0], np.nonzero(image.max(axis=0))[0]
    assert rows[-1] - rows[0] + 1 == 20
    assert columns[-1] - columns[0] + 1 == 12  # 61 wide of 101 high
    mass = image.sum()
    assert abs((image.sum(axis=1) * np.arange(28)).sum() / mass - 14) <= 0.5
    assert abs((image.sum(axis=0) * np.arange(28)).sum() / mass - 14) <= 0.5
    assert 0.0 <= image.min() <= image.max() <= 1.0


def test_colour_ground_transparency_and_format_make_no_difference() -> None:
    expected = digit_from_bytes(as_bytes(stroke()), "test")
    black_on_white = stroke().point(lambda value: 255 - value)
    deep = Image.fromarray(np.asarray(stroke(), np.uint16) * 257)
    for image in (black_on_white, black_on_white.convert("RGB"), stroke().convert("P"), deep):
        assert np.allclose(digit_from_bytes(as_bytes(image), "test"), expected, atol=0.02)
    ink = Image.new("RGBA", stroke().size, (0, 0, 0, 0))
    ink.putalpha(stroke())
    assert np.allclose(digit_from_bytes(as_bytes(ink), "test"), expected, atol=0.02)
    jpeg = as_bytes(black_on_white, "JPEG", quality=90)
    assert np.abs(digit_from_bytes(jpeg, "test") - expected).mean() < 0.02


def test_grey_paper_is_taken_for_ground() -> None:
    scan = np.full((60, 60), 0.8, np.float32)
    scan[10:50, 25:30] = 0.2
    bright = bright_on_dark(scan)
    assert bright[0, 0] == 0.0
    assert bright[20, 27] == pytest.approx(1.0)


def test_real_mnist_digits_stay_as_they_are(data_dir: Path) -> None:
    with gzip.open(data_dir / "mnist" / "t10k-images-idx3-ubyte.gz") as file:
        file.read(16)
        digits = np.frombuffer(file.read(300 * 784), np.uint8).reshape(-1, 28, 28)
    values = digits.astype(np.float32) / 255
    same = sum(np.array_equal(fit_digit(value), value) for value in values)
    assert same > 290
    for digit, value in zip(digits[:20], values[:20], strict=True):
        fed = digit_from_bytes(as_bytes(Image.fromarray(digit)), "test")
        assert np.abs(fed - value).mean() < 0.06


def test_files_that_are_not_images_are_refused(tmp_path: Path) -> None:
    note = tmp_path / "note.png"
    note.write_text("shopping list")
    with pytest.raises(ImageError, match=r"note\.png: not an image: none of PNG"):
        digit_from_bytes(read_file(note), str(note))
    with pytest.raises(ImageError, match="can't be read"):
        read_file(tmp_path / "absent.png")
    with pytest.raises(ImageError, match="can't be read"):
        read_file(tmp_path)
    with pytest.raises(ImageError, match="damaged"):
        digit_from_bytes(as_bytes(stroke())[:150], "half.png")
    with pytest.raises(ImageError, match="no digit in it"):
        digit_from_bytes(as_bytes(Image.new("L", (50, 50), 255)), "blank.png")


def _black(side: int) -> bytes:
    """A black square as a PNG of one bit a pixel, row by row: Pillow would take a byte for each pixel."""
    packer = zlib.compressobj()
    rows = b"".join([*(packer.compress(bytes(1 + -(-side // 8))) for _ in range(side)), packer.flush()])
    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    parts = [
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_a_bomb_is_refused_before_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = _black(9000)
    assert len(data) < 100_000
    monkeypatch.setattr(Image.Image, "load", lambda self: pytest.fail("the image was decoded"))
    with pytest.raises(ImageError, match="too large: 9000 x 9000 pixels"):
        digit_from_bytes(data, "bomb.png")


def test_an_image_beyond_pillows_limit_is_refused_in_our_words() -> None:
    data = bytearray(_black(8))
    data[16:24] = struct.pack(">II", 200_000, 200_000)
    data[29:33] = struct.pack(">I", zlib.crc32(bytes(data[12:29])))
    with pytest.raises(ImageError, match=r"^bomb.png: the image is too large: over \d+ values; make"):
        digit_from_bytes(bytes(data), "bomb.png")


def test_a_file_beyond_all_measure_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digit_images, "MAX_BYTES", 100)
    (tmp_path / "big.png").write_bytes(as_bytes(stroke()))
    with pytest.raises(ImageError, match=r"the file has \d+ bytes, at most 100 are read"):
        read_file(tmp_path / "big.png")


@pytest.mark.skipif(os.name == "nt", reason="pipes and devices are files on POSIX")
def test_only_regular_files_are_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "zero.png").symlink_to("/dev/zero")
    monkeypatch.setattr(os, "open", lambda *_: pytest.fail("the file was opened"))
    for name in ("pipe.png", "zero.png"):
        with pytest.raises(ImageError, match="not a regular file"):
            read_file(tmp_path / name)


@pytest.mark.parametrize(("mode", "channels"), [("RGBA", 4), ("LA", 4), ("RGB", 3)])
def test_the_limit_counts_channels(mode: str, channels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digit_images, "MAX_VALUES", 30_000 * channels - 1)
    data = as_bytes(Image.new(mode, (100, 300)))
    monkeypatch.setattr(Image.Image, "load", lambda self: pytest.fail("the image was decoded"))
    with pytest.raises(ImageError, match=f"100 x 300 pixels of {channels} channels"):
        digit_from_bytes(data, "bomb.png")


def test_a_large_photograph_is_decoded_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    photograph = as_bytes(stroke(800, 80).convert("RGB"), "JPEG", quality=95)
    expected = digit_from_bytes(photograph, "photo.jpg")
    monkeypatch.setattr(digit_images, "MAX_VALUES", 200_000)
    monkeypatch.setattr(digit_images, "_DRAFT", (400, 400))
    assert digit_images.read_grey(photograph, "photo.jpg").shape == (400, 400)
    assert np.abs(digit_from_bytes(photograph, "photo.jpg") - expected).mean() < 0.06


def test_a_photograph_is_turned_as_its_camera_says() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # shown turned right by 90 degrees
    lying = stroke().transpose(Image.Transpose.ROTATE_90)
    assert np.array_equal(
        digit_from_bytes(as_bytes(lying, exif=exif), "test"), digit_from_bytes(as_bytes(stroke()), "test")
    )
