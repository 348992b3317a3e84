"""Makes the images of the guide: python docs/guide_images.py --language zh_CN.

The tours are driven in that language, and what the pages show of them is written to ``docs/images``, or to
``docs/images/zh_CN``, which ``python -m docs.guide_pages`` lets the translated pages lead to. The images have
256 colours at most, a third of their size. It takes some minutes; ``--from DIR`` takes the images of tours
that were driven before.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

TOP = Path(__file__).resolve().parent.parent
IMAGES = TOP / "docs" / "images"
ENGLISH = "en"
SIZE = "1280x800"
# The tours with their options, and by the images of the guide those that they save.
TOURS: dict[tuple[str, ...], dict[str, str]] = {
    ("tour.py", "--epochs", "8"): {
        "code": "code",
        "data": "data",
        "debug": "debug",
        "export": "export",
        "graph": "step",
        "predict": "predict",
        "quantized": "quantized",
        "train": "train",
    },
    ("own_data_tour.py",): {
        name: name
        for name in (
            "own-images-train",
            "own-labelling",
            "own-regression-train",
            "own-sequences-data",
            "own-table-data",
            "own-table-predict",
        )
    },
    ("runs_tour.py", "--sizes", SIZE, "--parts", "runs"): {
        "runs": f"{SIZE}-runs-parallel",
        "runs-scatter": f"{SIZE}-scatter",
        "runs-heat-map": f"{SIZE}-heat-map",
    },
}


def drive(folder: Path, language: str) -> None:
    """Let all tours save their images in this folder."""
    for name, *options in TOURS:
        command = [sys.executable, str(TOP / "docs" / name), str(folder), "--language", language, *options]
        subprocess.run(command, check=True)


def write(source: Path, folder: Path) -> None:
    """Write the images of the guide with few colours."""
    folder.mkdir(parents=True, exist_ok=True)
    for images in TOURS.values():
        for name, saved in images.items():
            with Image.open(source / f"{saved}.png") as image:
                # Keeps rare colours, such as those of marks; no value is off by more than 16 of 255.
                small = image.convert("RGB").quantize(
                    256, Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE
                )
            small.save(folder / f"{name}.png", optimize=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the images."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--language", default=ENGLISH, metavar="NAME", help="of the window: en or zh_CN")
    parser.add_argument("--from", type=Path, metavar="DIR", dest="source", help="images of the tours")
    options = parser.parse_args(arguments)
    folder = IMAGES if options.language == ENGLISH else IMAGES / options.language
    if options.source:
        write(options.source, folder)
        return 0
    with tempfile.TemporaryDirectory(prefix="model-studio-images-") as source:
        drive(Path(source), options.language)
        write(Path(source), folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
