"""More samples are added to the training by the names of their classes; the test stays as it is."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from engine.core.errors import DataError
from engine.training.data import load_data
from engine.training.sources.options import DataOptions
from tests.engine.training.sources import writing


@pytest.fixture
def data(tmp_path):
    values, labels = writing.images(30, (8, 8))
    names = np.array(["bee", "ant", "cow"])[labels]
    return str(writing.npz(tmp_path / "a.npz", x=values, y=names))


def test_more_samples_by_the_names_of_their_classes(tmp_path, data):
    more = writing.image_folder(tmp_path / "more", ("cow", "bee"), count=3)
    before, after = load_data(data), load_data(data, 0, DataOptions(extra_data=str(more)))
    assert after.classes == ("ant", "bee", "cow")
    assert len(after.train) == len(before.train) + 6
    assert np.array_equal(after.test.chosen, before.test.chosen)
    assert (np.bincount(after.train.labels) - np.bincount(before.train.labels)).tolist() == [0, 3, 3]
    fed, labels = after.train.__getitems__(range(len(after.train)))
    assert fed.shape == (len(after.train), 1, 8, 8)  # coloured ones are made grey
    place = next(at for at, row in enumerate(after.train.chosen) if row >= 30)
    where = after.train.rows.where(int(after.train.chosen[place]))
    with Image.open(more / where) as image:
        grey = np.asarray(image, np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
    assert np.abs(fed[place, 0] * 255 - grey).max() <= 1
    assert after.classes[int(labels[place, 0])] == where.partition("/")[0]


def test_extra_data_with_other_classes_or_shapes_is_refused(tmp_path, data):
    other = writing.image_folder(tmp_path / "other", ("wasp", "bee"), count=2)
    with pytest.raises(
        DataError, match=r"a class that the data does not have: 'wasp'; the classes are ant, bee, cow"
    ):
        load_data(data, 0, DataOptions(extra_data=str(other)))
    large = writing.image_folder(tmp_path / "large", ("bee", "cow"), side=9)
    with pytest.raises(DataError, match=r"another shape: \[9, 9, 3\] against \[8, 8, 1\]; .*Resize"):
        load_data(data, 0, DataOptions(extra_data=str(large)))
    fitted = load_data(data, 0, DataOptions(extra_data=str(large), resize=6))
    assert fitted.train.__getitems__(range(len(fitted.train)))[0].shape[1:] == (1, 6, 6)
