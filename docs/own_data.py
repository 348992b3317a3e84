"""Generated data of each kind, small enough for an image of a page or a test."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def table(path: Path, numbers: bool, rows: int = 400) -> Path:
    """Flats with their size, rooms and town, and their rent or whether they are let."""
    drawn = np.random.default_rng(5)
    lines = ["id,size (m2),rooms,town," + ("rent (EUR)" if numbers else "let")]
    for number in range(rows):
        size, rooms = drawn.uniform(20, 120), int(drawn.integers(1, 6))
        town = ("Bonn", "Essen", "Ulm")[int(drawn.integers(3))]
        rent = 9 * size + 40 * rooms + {"Bonn": 250, "Essen": 50, "Ulm": 150}[town] + drawn.normal(0, 30)
        target = f"{rent:.0f}.5" if numbers else ("yes" if rent < 950 else "no")
        lines.append(f"{number},{size:.1f},{'' if number % 50 == 7 else rooms},{town},{target}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def sequences(path: Path, count: int = 600, most: int = 40) -> Path:
    """Waves of three shapes, of half to all of ``most`` steps."""
    drawn = np.random.default_rng(6)
    y, lengths = drawn.integers(0, 3, count), drawn.integers(most // 2, most + 1, count)
    x = np.zeros((count, most, 1), np.float32)
    for row, label, length in zip(x, y, lengths, strict=True):
        turns = (0.08 * np.arange(length) + drawn.random()) % 1.0
        wave = (np.sin(2 * np.pi * turns), np.sign(0.5 - turns), 2 * turns - 1)[label]
        row[:length, 0] = wave + drawn.normal(0, 0.15, length)
    np.savez(path, x=x, y=y, lengths=lengths)
    return path


def images(folder: Path, each: int = 80, least: int = 60) -> Path:
    """Photographs would be better: discs, squares and crosses in images of ``least`` pixels to twice that."""
    from PIL import Image, ImageDraw

    drawn = np.random.default_rng(7)
    for name in ("cross", "disc", "square"):
        (folder / name).mkdir(parents=True)
        for number in range(each):
            width, height = (int(side) for side in drawn.integers(least, 2 * least, 2))
            image = Image.new("RGB", (width, height), tuple(int(v) for v in drawn.integers(0, 90, 3)))
            draw, half = ImageDraw.Draw(image), int(drawn.integers(7 * least // 30, 13 * least // 30))
            x, y = int(drawn.integers(half, width - half)), int(drawn.integers(half, height - half))
            color = tuple(int(v) for v in drawn.integers(150, 256, 3))
            if name == "disc":
                draw.ellipse((x - half, y - half, x + half, y + half), fill=color)
            elif name == "square":
                draw.rectangle((x - half, y - half, x + half, y + half), fill=color)
            else:
                draw.line((x - half, y, x + half, y), fill=color, width=7)
                draw.line((x, y - half, x, y + half), fill=color, width=7)
            image.save(folder / name / f"{number}.png")
    return folder
