"""MovieLens 1M: what people gave to films."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.core.errors import FormatError
from engine.files.data.archives import text_lines, zip_file
from engine.io.dataset import Dataset
from engine.text.datasets.sources import Source, chosen, located

_ARCHIVE = ("https://dataset.bj.bcebos.com/movielens%2Fml-1m.zip", "c4d9eecfca2ab87c1945afe126590906")
_SOURCE = Source("sentiment", *_ARCHIVE)
SOURCE_BEFORE = Source("movielens", *_ARCHIVE)  # the folder of versions before 2.0
AGES = (1, 18, 25, 35, 45, 50, 56)
_TITLE = re.compile(r"^(.*)\((\d+)\)$")


class Movie:
    """The number of a film, the kinds it is of, and its title without the year."""

    def __init__(self, index: str | int, categories: list[str], title: str) -> None:
        self.index = int(index)
        self.categories = categories
        self.title = title

    def __repr__(self) -> str:
        return f"<MovieInfo id({self.index}), title({self.title}), categories({self.categories})>"

    def numbers(self, kinds: dict[str, int], words: dict[str, int]) -> tuple[list[int], list[int]]:
        """The numbers of its kinds and of the words of its title."""
        return [kinds[c] for c in self.categories], [words[word.lower()] for word in self.title.split()]


class User:
    """The number of a person, the sex, the age (as a place in a table of groups) and the profession."""

    def __init__(self, index: str | int, gender: str, age: str | int, job_id: str | int) -> None:
        self.index = int(index)
        self.is_male = gender == "M"
        self.age = AGES.index(int(age))
        self.job_id = int(job_id)

    def __repr__(self) -> str:
        gender = "M" if self.is_male else "F"
        return f"<UserInfo id({self.index}), gender({gender}), age({AGES[self.age]}), job({self.job_id})>"

    def facts(self) -> list[int]:
        """All four as numbers; 0 is male."""
        return [self.index, 0 if self.is_male else 1, self.age, self.job_id]


class MovieInfo(Movie):
    """A film whose value is made with given dictionaries."""

    def value(self, categories_dict: dict[str, int], movie_title_dict: dict[str, int]) -> list[list[int]]:
        """Its number, those of its kinds and those of the words of its title."""
        return [[self.index], *self.numbers(categories_dict, movie_title_dict)]


class UserInfo(User):
    """A person whose value is lists of one number."""

    def value(self) -> list[list[int]]:
        """Number, sex (0 is male), age and profession."""
        return [[number] for number in self.facts()]


class Catalog:
    """Films, people and ratings of the archive at ``path``; kinds and words of titles are numbered as they
    first occur.

    Raises AbsentError, DataError or FormatError where it is absent, unreadable or not the right one.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        films, people, self._ratings = (
            [line.strip().split("::") for line in text_lines(path, data, "latin-1")]
            for data in zip_file(path, "ml-1m/movies.dat", "ml-1m/users.dat", "ml-1m/ratings.dat")
        )
        self.movie_info: dict[int, MovieInfo] = {}
        self.movie_title_dict: dict[str, int] = {}
        self.categories_dict: dict[str, int] = {}
        self.user_info: dict[int, UserInfo] = {}
        with self._of_its_form():
            self._read_films(films)
            for number, gender, age, job, _ in people:
                self.user_info[int(number)] = UserInfo(number, gender, age, job)

    @contextmanager
    def _of_its_form(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, KeyError) as cause:
            raise FormatError(
                f"{self._path}: a line is not of MovieLens' form: {cause}; download it again"
            ) from cause

    def _read_films(self, lines: list[list[str]]) -> None:
        for number, full, kinds in lines:
            match = _TITLE.match(full)
            if match is None:
                raise ValueError(f"the title {full!r} ends with no year")
            film = MovieInfo(number, kinds.split("|"), match[1])
            self.movie_info[film.index] = film
            for kind in film.categories:
                self.categories_dict.setdefault(kind, len(self.categories_dict))
            for word in film.title.lower().split():
                self.movie_title_dict.setdefault(word, len(self.movie_title_dict))

    def ratings(self, test_ratio: float, test: bool) -> Iterator[tuple[UserInfo, MovieInfo, float]]:
        """Who gave what to which film, from -5 to 5: those that NumPy's generator draws for one of the
        parts."""
        for line in self._ratings:
            if (np.random.random() < test_ratio) == test:
                with self._of_its_form():
                    person, film, rating, _ = line
                    found = self.user_info[int(person)], self.movie_info[int(film)], float(rating) * 2 - 5.0
                yield found


class Movielens(Dataset):
    """Items are (person, sex, age, profession, film, its kinds, words of its title, rating from -5 to 5).

    A line goes to the test part where ``np.random.random()`` is below ``test_ratio``: the constructor seeds
    NumPy's generator with ``rand_seed``, as there.

    Differs from Paddle: kinds and words of titles are numbered as they first occur; there the order of a set
    numbers them, which changes from process to process.

    Args:
        data_file: the archive ``ml-1m.zip``; by default the one on this machine, else a download.
        mode: ``'train'`` or ``'test'``.
        test_ratio: the part that is kept for testing.
        rand_seed: of the division into parts.
        download: fetch the archive where it is absent.

    Raises:
        ConditionError: another mode; no file and no download.
        AbsentError, DataError, FormatError: the archive is absent, unreadable, not the right one.
    """

    def __init__(
        self,
        data_file: str | os.PathLike[str] | None = None,
        mode: str = "train",
        test_ratio: float = 0.1,
        rand_seed: int = 0,
        download: bool = True,
    ) -> None:
        self.mode = chosen("Movielens", "mode", mode, ("train", "test"))
        self.data_file = located("Movielens", "data_file", data_file, _SOURCE, download)
        self.test_ratio = test_ratio
        self.rand_seed = rand_seed
        np.random.seed(rand_seed)
        catalog = Catalog(self.data_file)
        self.movie_info, self.user_info = catalog.movie_info, catalog.user_info
        self.movie_title_dict, self.categories_dict = catalog.movie_title_dict, catalog.categories_dict
        self.data: list[list[Any]] = []
        for user, movie, rating in catalog.ratings(test_ratio, self.mode == "test"):
            facts = movie.value(self.categories_dict, self.movie_title_dict)
            self.data.append([*user.value(), *facts, [rating]])

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        return tuple(np.array(part) for part in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)
