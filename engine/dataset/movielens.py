"""MovieLens 1M as readers of [person, sex, age, profession, film, its kinds, words of its title,
[rating]]."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.reader.decorator import Reader
from engine.text.datasets import movielens
from engine.text.datasets.sources import present

__all__ = [
    "MovieInfo",
    "UserInfo",
    "age_table",
    "fetch",
    "get_movie_title_dict",
    "max_job_id",
    "max_movie_id",
    "max_user_id",
    "movie_categories",
    "movie_info",
    "test",
    "train",
    "user_info",
]

age_table = list(movielens.AGES)
_TEST_RATIO = 0.1


class MovieInfo(movielens.Movie):
    """A film; its value has the numbers of the archive that is on this machine."""

    def value(self) -> list[Any]:
        """Its number, the numbers of its kinds and those of the words of its title."""
        return [self.index, *self.numbers(movie_categories(), get_movie_title_dict())]


class UserInfo(movielens.User):
    """A person."""

    def value(self) -> list[int]:
        """Number, sex (0 is male), age (as a place in ``age_table``) and profession."""
        return self.facts()


@functools.lru_cache(maxsize=1)
def _catalog(path: str) -> movielens.Catalog:
    return movielens.Catalog(path)


def _facts() -> movielens.Catalog:
    """The archive is looked for as by ``text.Movielens``; AbsentError where it is missing: nothing is
    downloaded."""
    return _catalog(_path())


def _path() -> str:
    return present("dataset.movielens", movielens.SOURCE_BEFORE)


def train() -> Reader:
    """The ratings of the training part, nine tenths that NumPy's generator draws after ``np.random.seed(0)``.

    The archive is read by this call, whose errors are those of ``text.Movielens``; nothing is downloaded.
    """
    return _reader(False)


def test() -> Reader:
    """The ratings of the test part, as ``train`` gives its own."""
    return _reader(True)


def fetch() -> None:
    """Check that the archive is where the readers look for it."""
    _path()


def get_movie_title_dict() -> dict[str, int]:
    """The numbers of the words of titles."""
    return _facts().movie_title_dict


def movie_categories() -> dict[str, int]:
    """The numbers of the kinds of films."""
    return _facts().categories_dict


def movie_info() -> dict[int, MovieInfo]:
    """The films by number."""
    return {n: MovieInfo(m.index, m.categories, m.title) for n, m in _facts().movie_info.items()}


def user_info() -> dict[int, UserInfo]:
    """The people by number."""
    return {
        n: UserInfo(u.index, "M" if u.is_male else "F", age_table[u.age], u.job_id)
        for n, u in _facts().user_info.items()
    }


def max_movie_id() -> int:
    """The largest number of a film."""
    return max(_facts().movie_info)


def max_user_id() -> int:
    """The largest number of a person."""
    return max(_facts().user_info)


def max_job_id() -> int:
    """The largest number of a profession."""
    return max(user.job_id for user in _facts().user_info.values())


def _reader(test: bool) -> Reader:
    catalog = _facts()

    def reader() -> Iterator[list[Any]]:
        np.random.seed(0)
        for user, movie, rating in catalog.ratings(_TEST_RATIO, test):
            numbers = movie.numbers(catalog.categories_dict, catalog.movie_title_dict)
            yield [*user.facts(), movie.index, *numbers, [rating]]

    return reader
