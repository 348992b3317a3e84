"""Data sets of text: where the files are looked for, and archives that are damaged, foreign or hostile.

What they read is compared with Paddle's in the recorded calls of ``text``.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

import engine as paddle
from engine.core.errors import AbsentError, ConditionError, DataError, FormatError
from engine.files.data import archives
from engine.text.datasets import sources

REVIEW = b"good film\n" * 3


def write_tar(path: Path, files: dict[str, bytes], links: dict[str, str] | None = None) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, target in (links or {}).items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    return write_tar(tmp_path / "reviews.tgz", {"aclImdb/train/pos/1.txt": REVIEW})


@pytest.mark.parametrize("name", ["aclImdb_v1.tar.gz", "imdb%2FaclImdb_v1.tar.gz"])
def test_a_file_on_this_machine_is_found(
    tmp_path: Path, reviews: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("MODEL_STUDIO_DATA", str(tmp_path))
    (tmp_path / "imdb").mkdir()
    reviews.rename(tmp_path / "imdb" / name)
    data = paddle.text.Imdb(cutoff=1)
    assert [(list(words), list(label)) for words, label in data] == [([1, 0] * 3, [0])]


def test_missing_archives_raise_with_the_files_to_get(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(urls: list[str], target: Path, md5: str) -> Path:
        raise DataError(f"{target.name}: could not be downloaded")

    monkeypatch.setenv("MODEL_STUDIO_DATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sources, "fetch", offline)
    with pytest.raises(
        AbsentError, match=r"get http\S+/wmt16.tar.gz and pass its path as data_file"
    ) as caught:
        paddle.text.WMT16(src_dict_size=3, trg_dict_size=3)
    assert "\n" not in str(caught.value)
    with pytest.raises(ConditionError, match="downloading automatically is disabled: get http"):
        paddle.text.WMT16(src_dict_size=3, trg_dict_size=3, download=False)


def test_a_link_in_an_archive_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret " * 9)
    path = write_tar(
        tmp_path / "a.tgz",
        {"aclImdb/train/pos/2.txt": REVIEW, "../../escaped.txt": REVIEW},
        {"aclImdb/train/pos/1.txt": str(secret)},
    )
    data = paddle.text.Imdb(path, cutoff=1)
    assert b"secret" not in data.word_idx
    assert len(data) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tgz", "secret"]  # nothing was unpacked


def test_a_damaged_archive(reviews: Path) -> None:
    whole = reviews.read_bytes()
    for length in (0, 10, len(whole) // 2):
        reviews.write_bytes(whole[:length])
        with pytest.raises(FormatError, match=r"reviews.tgz: "):
            paddle.text.Imikolov(reviews, window_size=2)


def test_a_file_that_grows_when_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "LIMIT", 10_000)
    zeros = b"\0" * 20_000
    with pytest.raises(FormatError, match="more than 10000 bytes"):
        paddle.text.Imdb(write_tar(tmp_path / "a.tgz", {"aclImdb/train/pos/1.txt": zeros}))
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ml-1m/movies.dat", zeros)
    with pytest.raises(FormatError, match="more than 10000 bytes"):
        paddle.text.Movielens(tmp_path / "a.zip")
    with pytest.raises(FormatError, match="more than 10000 bytes"):
        archives.unpacked("a", gzip.compress(zeros))
    (tmp_path / "numbers").write_bytes(zeros)
    with pytest.raises(DataError, match="has 20,000 bytes, at most 10,000 are read"):
        paddle.text.UCIHousing(tmp_path / "numbers")


@pytest.mark.parametrize(
    ("films", "people"),
    [(b"1::No year::Drama", b"1::F::1::1::0"), (b"1::A (1999)::Drama", b"1::F::2::1::0"), (b"1::A", b"")],
)
def test_lines_of_another_form(tmp_path: Path, films: bytes, people: bytes) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, data in (("movies", films), ("users", people), ("ratings", b"")):
            archive.writestr(f"ml-1m/{name}.dat", data)
    with pytest.raises(FormatError, match="not of MovieLens' form"):
        paddle.text.Movielens(tmp_path / "a.zip")


def test_words_that_are_no_numbers(tmp_path: Path) -> None:
    (tmp_path / "housing").write_text("one " * 14)
    with pytest.raises(FormatError, match="holds more than numbers"):
        paddle.text.UCIHousing(tmp_path / "housing")


def test_a_small_file_takes_little_memory(tmp_path: Path) -> None:
    """A reader that asks for all that is allowed takes that memory before it knows how little there is."""
    path = tmp_path / "films.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", b"x")
    tracemalloc.start()
    try:
        assert archives.unpacked("a.gz", gzip.compress(b"y")) == b"y"
        assert archives.zip_file(str(path), "a") == [b"x"]
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_damaged_archives_raise_one_line(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "reviews.tgz", {"aclImdb/train/pos/1.txt": REVIEW})
    path.write_bytes(b"no archive" * 100)
    with pytest.raises(FormatError, match="not such an archive, or damaged") as caught:
        paddle.text.Imdb(str(path), cutoff=0)
    assert "\n" not in str(caught.value)
