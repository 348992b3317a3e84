"""The corpus of the fuzz: one small sound file of each kind; `python -m tests.robust.corpus` writes it anew.

The files are committed, so that a case has the same bytes whatever later versions of the engine write. Saved
models name the source of their network: write them in a checkout at `/model-studio`, so that they name no
place of one machine.
"""

from __future__ import annotations

import functools
import io
import json
import struct
import tarfile
import tempfile
import wave
import zipfile
import zlib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("corpus")
WRITTEN_IN = "/model-studio"


@functools.cache
def sample(name: str) -> bytes:
    """The content of a file of the corpus."""
    return (FOLDER / name).read_bytes()


def names(ending: str = "") -> list[str]:
    """The names of the files with this ending."""
    return sorted(path.name for path in FOLDER.iterdir() if path.name.endswith(ending))


def packed_tar(files: dict[str, bytes], mode: str = "w:gz") -> bytes:
    """A tar archive of these files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def packed_zip(files: dict[str, bytes]) -> bytes:
    """A zip archive of these files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def matlab(name: str, values: list[int], compressed: bool) -> bytes:
    """A MATLAB file of version 5 with one row of 8-bit numbers."""

    def element(kind: int, data: bytes) -> bytes:
        return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)

    matrix = element(
        14,
        element(6, struct.pack("<II", 9, 0))
        + element(5, struct.pack("<ii", 1, len(values)))
        + element(1, name.encode())
        + element(2, bytes(values)),
    )
    if compressed:
        packed = zlib.compress(matrix)
        matrix = struct.pack("<II", 15, len(packed)) + packed
    return b"MATLAB 5.0".ljust(124) + struct.pack("<H", 0x0100) + b"IM" + matrix


def _images() -> dict[str, bytes]:
    import numpy as np
    from PIL import Image

    grey = np.zeros((32, 28), np.uint8)
    grey[6:26, 10:16] = np.arange(6) * 30 + 90
    found = {}
    for name, mode in (
        ("png", "L"),
        ("jpg", "L"),
        ("gif", "P"),
        ("bmp", "RGB"),
        ("tif", "L"),
        ("webp", "RGB"),
        ("ppm", "RGB"),
        ("alpha.png", "RGBA"),
        ("deep.png", "I;16"),
    ):
        image = Image.fromarray(grey)
        image = image.convert(mode) if mode != "I;16" else Image.fromarray(grey.astype(np.uint16) * 200)
        packed = io.BytesIO()
        image.save(packed, {"jpg": "JPEG", "tif": "TIFF"}.get(name, name.rpartition(".")[2].upper()))
        found[f"digit.{name}"] = packed.getvalue()
    exif = Image.Exif()
    exif[0x0112] = 6
    packed = io.BytesIO()
    Image.fromarray(grey).save(packed, "JPEG", exif=exif)
    return {**found, "turned.jpg": packed.getvalue()}


def _archives(images: dict[str, bytes]) -> dict[str, bytes]:
    import gzip

    import numpy as np

    lines = b"the cat sat on the mat\nthe dog sat\n"
    voc = "VOCdevkit/VOC2012"
    words = gzip.compress(b"The\ncat\nsat\n\n")
    props = gzip.compress(b"- (A0*\n- *)\nsit (V*)\n\n")
    dictionary = b"<s>\n<e>\n<unk>\nthe\ncat\n"
    return {
        "reviews.tgz": packed_tar(
            {f"aclImdb/{part}/{kind}/0_1.txt": lines for part in ("train", "test") for kind in ("pos", "neg")}
        ),
        "treebank.tgz": packed_tar(
            {f"simple-examples/data/ptb.{part}.txt": lines for part in ("train", "valid", "test")}
        ),
        "wmt14.tgz": packed_tar(
            {"src.dict": dictionary, "trg.dict": dictionary, "train/train": b"the cat\tcat the\n"}
        ),
        "wmt16.tgz": packed_tar({f"wmt16/{part}": b"the cat\tdie Katze\n" for part in ("train", "test")}),
        "conll05.tgz": packed_tar(
            {
                "conll05st-release/test.wsj/words/test.wsj.words.gz": words,
                "conll05st-release/test.wsj/props/test.wsj.props.gz": props,
            }
        ),
        "films.zip": packed_zip(
            {
                "ml-1m/movies.dat": b"1::Toy Story (1995)::Animation|Comedy\n",
                "ml-1m/users.dat": b"1::F::1::10::48067\n",
                "ml-1m/ratings.dat": b"1::1::5::978300760\n",
            }
        ),
        "cifar.tgz": packed_tar(
            {f"cifar-100-binary/{part}.bin": bytes([1, 2]) + bytes(3072) for part in ("train", "test")}
        ),
        "flowers.tgz": packed_tar({"jpg/image_00001.jpg": images["digit.jpg"]}),
        "voc.tar": packed_tar(
            {
                f"{voc}/ImageSets/Segmentation/trainval.txt": b"a\n",
                f"{voc}/JPEGImages/a.jpg": images["digit.jpg"],
                f"{voc}/SegmentationClass/a.png": images["digit.png"],
            },
            "w",
        ),
        "labels.mat": matlab("labels", [1, 2, 3], True),
        "plain.mat": matlab("labels", [1, 2, 3], False),
        "housing.data": b"\n".join(
            b" ".join(b"%.3f" % x for x in row) for row in np.random.default_rng(0).uniform(0, 9, (6, 14))
        ),
        "weights.npz": _npz(),
        "harm.pickle": b"cos\nsystem\n(S'touch /tmp/harm'\ntR.",
    }


def _npz() -> bytes:
    import numpy as np

    packed = io.BytesIO()
    np.savez(packed, w=np.zeros(3, np.float32))
    return packed.getvalue()


def _waves() -> dict[str, bytes]:
    packed = io.BytesIO()
    with wave.open(packed, "wb") as sound:
        sound.setnchannels(2)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(struct.pack("<64h", *range(64)))
    images = b"\0\0\x08\x03" + struct.pack(">3I", 2, 28, 28) + bytes(range(196)) * 8
    import gzip

    return {
        "sound.wav": packed.getvalue(),
        "pictures.idx": images,
        "pictures.idx.gz": gzip.compress(images, mtime=0),
        "labels.idx": b"\0\0\x08\x01" + struct.pack(">I", 2) + b"\1\2",
    }


def _models(folder: Path) -> dict[str, bytes]:
    """The files of saved models, a state, a training Program and a run, unsigned."""
    from tests.robust.containers import unsigned
    from tests.robust.networks import save_samples

    save_samples(folder)
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found[path.name] = unsigned(data) if data.startswith(b"\x89MSF") else data
    return found


def write() -> None:
    """Write every file of the corpus."""
    if str(FOLDER.parents[2]) != WRITTEN_IN:
        raise SystemExit(f"corpus: it names the place of its source: write it in a checkout at {WRITTEN_IN}")
    images = _images()
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, bytes] = {**images, **_archives(images), **_waves(), **_models(Path(folder))}
    FOLDER.mkdir(exist_ok=True)
    for name, data in files.items():
        (FOLDER / name).write_bytes(data)
    total = sum(map(len, files.values()))
    print(f"{len(files)} files, {total} bytes: {json.dumps({k: len(v) for k, v in sorted(files.items())})}")


def plain(value: Any) -> Any:
    """``value`` with tuples as lists, as JSON has it."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    write()
