"""Paddle's ``fluid.reader``: ``DataLoader`` and ``PyReader``, batches of a Python generator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from engine import io
from engine.core.errors import UnsupportedError
from engine.fluid.values.variable import as_variable
from engine.io.generator_loader import GeneratorLoader
from engine.tensor.manipulation import reshape

__all__ = ["DataLoader", "PyReader"]


class _Loader(GeneratorLoader):
    """A loader whose batches are fluid's Variables in a guard."""

    def _shown(self, value: Any) -> Any:
        return as_variable(value if value.ndim else reshape(value, [1]))


class DataLoader(io.DataLoader):
    """Batches of a dataset, or of a Python generator (``from_generator``)."""

    @staticmethod
    def from_generator(*args: Any, **kwargs: Any) -> _Loader:
        """A loader of what a Python generator yields: see ``engine.io.generator_loader.GeneratorLoader``."""
        return _Loader(*args, **kwargs)

    @staticmethod
    def from_dataset(dataset: Any, places: Any, drop_last: bool = True) -> NoReturn:
        """Refused: UnsupportedError names what to use."""
        raise UnsupportedError(
            "DataLoader.from_dataset: files that Paddle's C++ data feed reads (DatasetFactory, DataFeedDesc) "
            "do not exist here; yield their rows from a generator: DataLoader.from_generator"
        )


class PyReader(_Loader):
    """A loader of what a Python generator yields, under the names before ``DataLoader.from_generator``.

    One that is not iterable belongs to the Program of ``feed_list``: each run between ``start()`` and
    ``reset()`` takes a batch, and raises ``fluid.core.EOFException`` after the last.
    """

    def __init__(
        self,
        feed_list: Sequence[Any] | None = None,
        capacity: int | None = None,
        use_double_buffer: bool = True,
        iterable: bool = True,
        return_list: bool = False,
        use_multiprocess: bool = False,
    ) -> None:
        super().__init__(feed_list, capacity, use_double_buffer, iterable, return_list, use_multiprocess)

    decorate_sample_generator = _Loader.set_sample_generator
    decorate_sample_list_generator = decorate_paddle_reader = _Loader.set_sample_list_generator
    decorate_batch_generator = decorate_tensor_provider = _Loader.set_batch_generator

    @property
    def variables(self) -> list[Any]:
        """The Variables that it feeds."""
        return list(self._variables)
