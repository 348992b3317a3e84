"""Reviews of films (NLTK's ``movie_reviews``) as pairs of (numbers of the words, 0 for blame or 1 for
praise)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from engine.core.errors import AbsentError
from engine.files.data.archives import file_bytes, text_of, zip_files
from engine.vision.datasets.locate import data_folders

__all__ = ["fetch", "get_word_dict", "test", "train"]

NUM_TRAINING_INSTANCES = 1600
NUM_TOTAL_INSTANCES = 2000

_CORPUS = "movie_reviews"
_REVIEW = re.compile(rf"{_CORPUS}/(neg|pos)/[^/]*\.txt")
_WORD = re.compile(r"\w+|[^\w\s]+")  # NLTK splits the texts so


def train() -> Iterator[tuple[list[int], int]]:
    """The first 1600 reviews, of blame and praise in turn; an iterator, not a function that gives one.

    The corpus is the folder ``corpora/movie_reviews``, or the archive ``corpora/movie_reviews.zip`` as NLTK
    downloads it, in ``$MODEL_STUDIO_DATA`` or this user's cache folder; nothing is downloaded. Raises
    AbsentError where it is missing.
    """
    return iter(_samples()[:NUM_TRAINING_INSTANCES])


def test() -> Iterator[tuple[list[int], int]]:
    """The other reviews, as ``train`` gives its own."""
    return iter(_samples()[NUM_TRAINING_INSTANCES:])


def get_word_dict() -> list[tuple[str, int]]:
    """Pairs of a word and its number, the most frequent word first; equally frequent ones as they occur."""
    counts = Counter(word for kind in ("neg", "pos") for words in _reviews()[kind] for word in words)
    return [(word, n) for n, (word, _) in enumerate(counts.most_common())]


def fetch() -> None:
    """Check that the corpus is where the readers look for it."""
    _corpus()


def _samples() -> list[tuple[list[int], int]]:
    numbers, reviews = dict(get_word_dict()), _reviews()
    return [
        ([numbers[word.lower()] for word in words], label)
        for pair in zip(reviews["neg"], reviews["pos"], strict=False)
        for label, words in enumerate(pair)
    ]


def _reviews() -> dict[str, list[list[str]]]:
    """The words of the reviews of both kinds, in the order of their names."""
    corpus = _corpus()
    if corpus.is_dir():
        paths = [path for kind in ("neg", "pos") for path in (corpus / kind).glob("*.txt")]
        files = [(f"{_CORPUS}/{path.parent.name}/{path.name}", file_bytes(str(path))) for path in paths]
    else:
        files = zip_files(str(corpus), lambda name: _REVIEW.fullmatch(name) is not None)
    found: dict[str, list[list[str]]] = {"neg": [], "pos": []}
    for name, data in sorted(files):
        found[name.split("/")[1]].append(_WORD.findall(text_of(f"{corpus}: {name}", data)))
    return found


def _corpus() -> Path:
    folders = data_folders("corpora")
    for folder in folders:
        for path in (folder / _CORPUS, folder / f"{_CORPUS}.zip"):
            if path.is_dir() or path.is_file():
                return path
    raise AbsentError(
        f"dataset.sentiment: {_CORPUS} is not in {', '.join(map(str, folders))}: get NLTK's corpus "
        "movie_reviews.zip and "
        "put it into one of these folders"
    )
