"""Readers of data that users bring: IDX, MATLAB, sound, images, archives and tables of data sets."""

from __future__ import annotations

import io
import random
import tarfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from engine.core.errors import EngineError
from tests.robust.corpus import packed_tar, packed_zip, sample
from tests.robust.mutations import json_text, mutated, mutated_bytes
from tests.robust.reader import Read, Reader

_OURS = (EngineError,)


def _bytes_of(*names: str) -> Callable[[random.Random], bytes]:
    def make(draw: random.Random) -> bytes:
        files = [sample(name) for name in names]
        return mutated_bytes(draw.choice(files), draw, files)

    return make


@cache
def _content(name: str) -> dict[str, bytes]:
    """The files in an archive of the corpus."""
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(sample(name))) as packed:
            return {entry: packed.read(entry) for entry in packed.namelist()}
    with tarfile.open(fileobj=io.BytesIO(sample(name))) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive}  # type: ignore[union-attr]


def _repacked(name: str, draw: random.Random) -> bytes:
    """An archive with a changed file in it, a file more, or a file renamed."""
    files = dict(_content(name))
    chosen = draw.choice(list(files))
    what = draw.random()
    if what < 0.7:
        files[chosen] = mutated_bytes(files[chosen], draw, list(files.values()))
    elif what < 0.8:
        files[mutated_bytes(chosen.encode(), draw, []).decode("latin-1").replace("\0", "0")[:90]] = files.pop(
            chosen
        )
    elif what < 0.9:
        del files[chosen]
    else:
        files["../" + chosen] = files[chosen]
    if name.endswith(".zip"):
        return packed_zip(files)
    return packed_tar(files, "w:gz" if draw.random() < 0.3 and name != "voc.tar" else "w")


# ----- images, labels, sound ------------------------------------------------------------------------------


def _read_idx(data: bytes, folder: Path) -> object:
    from engine.vision.datasets.mnist import IDXFolder

    for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"):
        sound = sample("pictures.idx" if "images" in name else "labels.idx")
        hostile = (data[3:4] == b"\1") is ("labels" in name)
        (folder / name).write_bytes(data if hostile else sound)
    return IDXFolder(folder, backend="cv2")[0]


def _read_matlab(data: bytes, folder: Path) -> object:
    from engine.vision.datasets.matlab import read_matrices

    (folder / "labels.mat").write_bytes(data)
    return read_matrices(folder / "labels.mat")


def _read_sound(data: bytes, folder: Path) -> object:
    from engine.audio.backends.wave_files import info, load

    (folder / "s.wav").write_bytes(data)
    info(folder / "s.wav")
    return load(folder / "s.wav")


def _read_image(data: bytes, folder: Path) -> object:
    import numpy as np

    import engine as paddle
    from engine.vision.image import image_load

    if data[:2] == b"\xff\xd8":
        return paddle.vision.ops.decode_jpeg(paddle.to_tensor(np.frombuffer(data, np.uint8)))
    (folder / "p.png").write_bytes(data)
    return image_load(folder / "p.png", "tensor")


def _read_voc(data: bytes, folder: Path) -> object:
    from engine.vision.datasets.voc2012 import VOC2012

    (folder / "voc.tar").write_bytes(data)
    found = VOC2012(str(folder / "voc.tar"), backend="cv2")
    return [found[n] for n in range(min(len(found), 2))]


def _read_cifar(data: bytes, folder: Path) -> object:
    from engine.vision.datasets.cifar import Cifar100

    (folder / "cifar.tgz").write_bytes(data)
    return Cifar100(str(folder / "cifar.tgz"), "test")[0]


def _read_flowers(data: bytes, folder: Path) -> object:
    import shutil

    from engine.vision.datasets.flowers import Flowers

    shutil.rmtree(folder / "flowers", ignore_errors=True)
    (folder / "flowers.tgz").write_bytes(data if data[:6] != b"MATLAB" else sample("flowers.tgz"))
    (folder / "l.mat").write_bytes(data if data[:6] == b"MATLAB" else sample("labels.mat"))
    sets = sample("labels.mat" if data[:6] != b"MATLAB" else "plain.mat")
    (folder / "s.mat").write_bytes(sets.replace(b"labels", b"tstid\0"))
    from tests.robust.corpus import matlab

    (folder / "s.mat").write_bytes(matlab("tstid", [1, 2, 3], True))
    found = Flowers(str(folder / "flowers.tgz"), str(folder / "l.mat"), str(folder / "s.mat"), "train")
    return found[0] if len(found) else None


# ----- text -------------------------------------------------------------------------------------------------


def _text_reader(name: str, make: Callable[[str], Any]) -> Read:
    def read(data: bytes, folder: Path) -> object:
        (folder / name).write_bytes(data)
        found = make(str(folder / name))
        return [found[n] for n in range(min(len(found), 3))]

    return read


def _sets() -> dict[str, Callable[[str], Any]]:
    from engine import text

    return {
        "reviews.tgz": lambda path: text.Imdb(path, cutoff=0),
        "treebank.tgz": lambda path: text.Imikolov(path, "NGRAM", 2, min_word_freq=0),
        "wmt14.tgz": lambda path: text.WMT14(path, dict_size=5),
        "wmt16.tgz": lambda path: text.WMT16(path, src_dict_size=9, trg_dict_size=9),
        "films.zip": lambda path: text.Movielens(path),
        "housing.data": lambda path: text.UCIHousing(path),
    }


def _text_case(draw: random.Random) -> tuple[str, bytes]:
    name = draw.choice(("reviews.tgz", "treebank.tgz", "wmt14.tgz", "wmt16.tgz", "films.zip", "housing.data"))
    if name == "housing.data" or draw.random() < 0.3:
        return name, mutated_bytes(sample(name), draw, [])
    return name, _repacked(name, draw)


def _read_text(case: tuple[str, bytes], folder: Path) -> object:
    name, data = case
    return _text_reader(name, _sets()[name])(data, folder)


def _roles_case(draw: random.Random) -> dict[str, bytes]:
    files = {
        "data_file": sample("conll05.tgz"),
        "word_dict_file": b"the\ncat\n",
        "verb_dict_file": b"sit\n",
        "target_dict_file": b"B-A0\nI-A0\nB-V\nO\n",
        "emb_file": b"",
    }
    if draw.random() < 0.6:
        files["data_file"] = _repacked_roles(draw)
    else:
        name = draw.choice(list(files))
        files[name] = mutated_bytes(files[name], draw, list(files.values()))
    return files


def _repacked_roles(draw: random.Random) -> bytes:
    import gzip

    files = dict(_content("conll05.tgz"))
    name = draw.choice(list(files))
    plain = gzip.decompress(files[name])
    files[name] = gzip.compress(mutated_bytes(plain, draw, [gzip.decompress(f) for f in files.values()]), 1)
    return packed_tar(files, "w")


def _read_roles(files: dict[str, bytes], folder: Path) -> object:
    from engine import text

    for name, data in files.items():
        (folder / name).write_bytes(data)
    found = text.Conll05st(**{name: str(folder / name) for name in files})
    return [found[n] for n in range(min(len(found), 3))]


def _table_case(draw: random.Random) -> bytes:
    table = b"filename,fold,target,category,esc10,src_file,take\n1-1.wav,1,0,dog,True,1,A\n"
    table += b"1-2.wav,2,49,saw,False,1,B\n"
    if draw.random() < 0.3:
        return table.replace(
            draw.choice((b"1", b"49", b"2")), draw.choice(("²".encode(), "٣".encode(), b"9" * 5000, b"-1"))
        )
    return mutated_bytes(table, draw, [])


def _read_table(data: bytes, folder: Path) -> object:
    """ESC-50's table of files; a sound of it is read."""
    import os

    from engine.audio.datasets import ESC50

    home = folder / "data" / "ESC-50-master"
    (home / "meta").mkdir(parents=True, exist_ok=True)
    (home / "audio").mkdir(exist_ok=True)
    (home / "meta" / "esc50.csv").write_bytes(data)
    before = os.environ.get("MODEL_STUDIO_DATA")
    os.environ["MODEL_STUDIO_DATA"] = str(folder / "data")
    try:
        return ESC50("train", 5)
    finally:
        if before is None:
            del os.environ["MODEL_STUDIO_DATA"]
        else:
            os.environ["MODEL_STUDIO_DATA"] = before


def _profile_case(draw: random.Random) -> bytes:
    profile = {
        "displayTimeUnit": "ms",
        "schemaVersion": "1.0.2",
        "traceEvents": [],
        "ExtraInfo": {"a": "b"},
        "spans": [["Operator", "add", 1, 5, 7, [[2, 3]]], ["UserDefined", "x", 2, 4, 7, []]],
    }
    from engine.profiler import result

    return json_text(mutated(profile | {"schemaVersion": result._SCHEMA}, draw), draw)


def _read_profile(data: bytes, folder: Path) -> object:
    from engine.profiler import load_profiler_result

    (folder / "p.json").write_bytes(data)
    return load_profiler_result(str(folder / "p.json"))


def _repack(*names: str) -> Callable[[random.Random], bytes]:
    def make(draw: random.Random) -> bytes:
        name = draw.choice(names)
        return _repacked(name, draw) if draw.random() < 0.7 else mutated_bytes(sample(name), draw, [])

    return make


def _flowers_case(draw: random.Random) -> bytes:
    if draw.random() < 0.5:
        return _bytes_of("labels.mat", "plain.mat")(draw)
    return _repack("flowers.tgz")(draw)


_IMAGES = tuple(f"digit.{kind}" for kind in ("png", "jpg", "gif", "bmp", "tif", "webp", "ppm"))
DATA_READERS = [
    Reader("IDX files", _bytes_of("pictures.idx", "pictures.idx.gz", "labels.idx"), _read_idx, _OURS, 40),
    Reader("MATLAB files", _bytes_of("labels.mat", "plain.mat"), _read_matlab, _OURS, 22, 320),
    Reader("sound files", _bytes_of("sound.wav"), _read_sound, _OURS, 20),
    # Pillow's own limit holds, as in Paddle: 179 million pixels. Beyond 1 GB the harness has no memory left.
    Reader("image_load and decode_jpeg", _bytes_of(*_IMAGES), _read_image, _OURS, 20, 1024),
    Reader("archive VOC2012", _repack("voc.tar"), _read_voc, _OURS, 3),
    Reader("archive CIFAR", _repack("cifar.tgz"), _read_cifar, _OURS, 4),
    Reader("archive Flowers", _flowers_case, _read_flowers, _OURS, 3, 320),
    Reader("archives of text", _text_case, _read_text, _OURS, 8),
    Reader("archive CoNLL-2005", _roles_case, _read_roles, _OURS, 4),
    Reader("table ESC-50", _table_case, _read_table, _OURS, 4),
    Reader("profile", _profile_case, _read_profile, _OURS, 4),
]
