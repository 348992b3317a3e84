"""dataset.imdb, imikolov, movielens, wmt14, conll05 and sentiment, from archives on this machine.

The archives are made here; where a test says so, its values are what Paddle 2.6.2 reads of the same archives.
"""

from __future__ import annotations

import gzip
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from engine import dataset
from engine.core.errors import AbsentError, ConditionError
from tests.engine.dataset.test_more_readers import pack


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MODEL_STUDIO_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def test_reviews_of_imdb(data: Path) -> None:
    texts = {
        "train/pos/0": b"Good, good FILM!\n",
        "train/neg/0": b"bad <br/> film film",
        "train/pos/1": b"film",
        "test/neg/0": b"bad good other",
        "test/pos/0": b"",
    }
    pack(data / "imdb" / "aclImdb_v1.tar.gz", {f"aclImdb/{n}.txt": text for n, text in texts.items()})
    words = dataset.imdb.build_dict(re.compile(r"aclImdb/((train)|(test))/((pos)|(neg))/.*\.txt$"), 1)
    assert words == {b"film": 0, b"good": 1, b"bad": 2, "<unk>": 3}
    train = dataset.imdb.train(words)
    assert list(train()) == [([1, 1, 0], 0), ([0], 0), ([2, 3, 0, 0], 1)]
    assert list(train()) == list(train())
    assert list(dataset.imdb.test(words)()) == [([], 0), ([2, 1, 3], 1)]
    pattern = re.compile(r"aclImdb/test/neg/.*\.txt$")
    assert list(dataset.imdb.tokenize(pattern)) == [[b"bad", b"good", b"other"]]
    with pytest.raises(ValueError, match="no word occurs more than 150 times"):
        dataset.imdb.word_dict()
    dataset.imdb.fetch()


def test_sentences_of_the_penn_treebank(data: Path) -> None:
    parts = {"train": b" a b a \n c a\n", "valid": b"b a\n", "test": b"never read\n"}
    pack(
        data / "imikolov" / "simple-examples.tgz",
        {f"./simple-examples/data/ptb.{name}.txt": text for name, text in parts.items()},
    )
    words = dataset.imikolov.build_dict(1)
    assert words == {b"a": 0, "<e>": 1, "<s>": 2, b"b": 3, "<unk>": 4}
    # Paddle 2.6.2 reads these.
    assert list(dataset.imikolov.train(words, 3)()) == [
        (2, 0, 3), (0, 3, 0), (3, 0, 1), (2, 4, 0), (4, 0, 1)
    ]  # fmt: skip
    kinds = dataset.imikolov.DataType
    assert list(dataset.imikolov.test(words, -1, kinds.SEQ)()) == [([2, 3, 0], [3, 0, 1])]
    assert list(dataset.imikolov.train(words, 3, kinds.SEQ)()) == [([2, 4, 0], [4, 0, 1])]
    with pytest.raises(AssertionError, match="Invalid gram length"):
        dataset.imikolov.train(words, -1)
    with pytest.raises(ConditionError, match="Unknown data type 3"):
        dataset.imikolov.train(words, 2, 3)
    dataset.imikolov.fetch()


def test_ratings_of_films(data: Path) -> None:
    (data / "movielens").mkdir()
    ratings = "".join(f"{1 + i % 2}::{1 + i % 2}::{1 + i % 5}::978300760\n" for i in range(30))
    with zipfile.ZipFile(data / "movielens" / "ml-1m.zip", "w") as archive:
        archive.writestr(
            "ml-1m/movies.dat", "1::Toy Story (1995)::Animation|Comedy\n2::Jumanji (1995)::Comedy\n"
        )
        archive.writestr("ml-1m/users.dat", "1::F::1::10::48067\n2::M::56::16::70072\n")
        archive.writestr("ml-1m/ratings.dat", ratings)
    ml = dataset.movielens
    # Paddle 2.6.2 reads these ratings; its numbers of kinds and words change from process to process.
    for _ in range(2):
        tested = list(ml.test()())
        assert [(row[0], row[4], *row[7]) for row in tested] == [(1, 1, 5.0), (2, 2, -3.0), (1, 1, -1.0)]
    assert tested[0] == [1, 1, 0, 10, 1, [0, 1], [0, 1], [5.0]]
    assert len(list(ml.train()())) == 27
    assert (ml.max_movie_id(), ml.max_user_id(), ml.max_job_id()) == (2, 2, 16)
    assert ml.get_movie_title_dict() == {"toy": 0, "story": 1, "jumanji": 2}
    assert ml.movie_categories() == {"Animation": 0, "Comedy": 1}
    assert (
        repr(ml.movie_info()[1])
        == "<MovieInfo id(1), title(Toy Story ), categories(['Animation', 'Comedy'])>"
    )
    assert ml.movie_info()[1].value() == [1, [0, 1], [0, 1]]
    assert repr(ml.user_info()[2]) == "<UserInfo id(2), gender(M), age(56), job(16)>"
    assert ml.user_info()[1].value() == [1, 1, 0, 10]
    assert ml.age_table == [1, 18, 25, 35, 45, 50, 56]
    ml.fetch()


def test_translations_of_wmt14(data: Path) -> None:
    words = b"<s>\n<e>\n<unk>\na\nb\nc\n"
    pairs = b"a b\tc d\nno pair\n" + b"a " * 80 + b"\tb\nc\ta\n"
    pack(
        data / "wmt14" / "wmt14.tgz",
        {"d/src.dict": words, "d/trg.dict": words} | {f"d/{m}/{m}": pairs for m in ("train", "test", "gen")},
    )
    # Paddle 2.6.2 reads these.
    wanted = [([0, 3, 4, 1], [0, 5, 2], [5, 2, 1]), ([0, 5, 1], [0, 3], [3, 1])]
    for part in (dataset.wmt14.train, dataset.wmt14.test, dataset.wmt14.gen):
        assert list(part(6)()) == wanted
    assert next(iter(dataset.wmt14.train(4)())) == ([0, 3, 2, 1], [0, 2, 2], [2, 2, 1])
    source, target = dataset.wmt14.get_dict(4)
    assert source == target == {0: "<s>", 1: "<e>", 2: "<unk>", 3: "a"}
    assert dataset.wmt14.get_dict(4, reverse=False)[0] == {"<s>": 0, "<e>": 1, "<unk>": 2, "a": 3}
    dataset.wmt14.fetch()


def test_roles_of_conll05(data: Path) -> None:
    words = "The\ncat\nate\nfish\n.\n\nHe\nran\n\n"
    labels = "- (A0*\n- *)\neat (V*)\n- (A1*)\n- *\n\n- (A0*)\nrun (V*)\n\n"
    folder = data / "conll05st"
    pack(
        folder / "conll05st-tests.tar.gz",
        {
            f"conll05st-release/test.wsj/{part}/test.wsj.{part}.gz": gzip.compress(text.encode())
            for part, text in (("words", words), ("props", labels))
        },
    )
    (folder / "wordDict.txt").write_text("UNK\nThe\ncat\nate\nbos\neos\n")
    (folder / "verbDict.txt").write_text("eat\nrun\n")
    (folder / "targetDict.txt").write_text("B-V\nI-V\n")
    with pytest.raises(AbsentError, match="emb is not in"):
        dataset.conll05.fetch()
    (folder / "emb").write_text("x")
    # Paddle 2.6.2 reads these.
    first, second = dataset.conll05.test()()
    assert first == (
        [1, 2, 3, 0, 0], [1] * 5, [2] * 5, [3] * 5, [0] * 5, [0] * 5, [0] * 5, [1, 1, 1, 1, 1],
        [None, None, 0, None, 2],
    )  # fmt: skip
    assert second == ([0, 0], [4, 4], [0, 0], [0, 0], [5, 5], [5, 5], [1, 1], [1, 1], [None, 0])
    assert dataset.conll05.get_dict()[1:] == ({"eat": 0, "run": 1}, {"B-V": 0, "I-V": 1, "O": 2})
    assert dataset.conll05.get_embedding() == str(folder / "emb")
    dataset.conll05.fetch()


@pytest.mark.parametrize("packed", [False, True])
def test_reviews_of_the_toolkit_for_natural_language(
    data: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    texts = {
        "neg/b": "it is bad . it ' s",
        "neg/a": "so bad--so !\n",
        "pos/a": "good . so",
        "pos/b": "is it ?",
    }
    folder = data / "corpora"
    (folder / "movie_reviews" / "neg").mkdir(parents=True)
    (folder / "movie_reviews" / "pos").mkdir()
    for name, text in texts.items():
        (folder / "movie_reviews" / f"{name}.txt").write_text(text)
    if packed:
        with zipfile.ZipFile(folder / "movie_reviews.zip", "w") as archive:
            for name, text in texts.items():
                archive.writestr(f"movie_reviews/{name}.txt", text)
        (folder / "movie_reviews").rename(data / "elsewhere")
    # so it bad is . occur 3, 3, 2, 2, 2 times, in this order first; -- ! ' s good ? once.
    words = dataset.sentiment.get_word_dict()
    assert words == [
        (w, n) for n, w in enumerate(["so", "it", "bad", "is", ".", "--", "!", "'", "s", "good", "?"])
    ]
    monkeypatch.setattr(dataset.sentiment, "NUM_TRAINING_INSTANCES", 3)
    assert list(dataset.sentiment.train()) == [
        ([0, 2, 5, 0, 6], 0), ([9, 4, 0], 1), ([1, 3, 2, 4, 1, 7, 8], 0)
    ]  # fmt: skip
    assert list(dataset.sentiment.test()) == [([3, 1, 10], 1)]
    dataset.sentiment.fetch()


def test_missing_archives_are_not_downloaded(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.text.datasets.sources.fetch", lambda *args: pytest.fail("a download"))
    for name, file in (
        ("imdb", "aclImdb_v1.tar.gz"),
        ("imikolov", "simple-examples.tgz"),
        ("movielens", "ml-1m.zip"),
        ("wmt14", "wmt14.tgz"),
        ("conll05", "conll05st-tests.tar.gz"),
        ("sentiment", "movie_reviews"),
    ):
        with pytest.raises(AbsentError, match=rf"dataset\.{name}: {file} is not in .*data"):
            getattr(dataset, name).fetch()
    with pytest.raises(AbsentError):
        dataset.imdb.train({"<unk>": np.int64(0)})
