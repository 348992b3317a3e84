"""The role of a column becomes the settings target, exclude and include."""

from __future__ import annotations

import pytest

from studio.session.data.column_roles import with_role
from studio.session.data.data_view import ColumnView
from studio.session.train.run_settings import RunSettings

COLUMNS = (
    ColumnView("id", "excluded", "number", "differs in nearly every row"),
    ColumnView("size [m2]", "input", "number"),
    ColumnView("id_of_owner", "excluded", "number", "excluded by you"),
    ColumnView("price", "target", "number"),
    ColumnView("rent", "target", "number"),
)
SETTINGS = RunSettings(label_name="price, rent", exclude=("id_*",))


@pytest.mark.parametrize(
    ("name", "role", "expected"),
    [
        ("id", "input", {"label_name": "price, rent", "exclude": ("id_*",), "include": ("id",)}),
        ("id_of_owner", "input", {"label_name": "price, rent", "exclude": (), "include": ()}),
        (
            "size [m2]",
            "excluded",
            {"label_name": "price, rent", "exclude": ("id_*", "size [m2]"), "include": ()},
        ),
        ("size [m2]", "target", {"label_name": "size [m2]", "exclude": ("id_*",), "include": ()}),
        ("rent", "input", {"label_name": "price", "exclude": ("id_*",), "include": ()}),
        ("rent", "excluded", {"label_name": "price", "exclude": ("id_*", "rent"), "include": ()}),
    ],
)
def test_a_role_changes_only_the_settings_of_its_column(name, role, expected):
    assert with_role(SETTINGS, COLUMNS, name, role) == expected


def test_a_pattern_that_fits_more_columns_keeps_the_others_excluded():
    settings = RunSettings(exclude=("id*",))
    columns = (ColumnView("id", "excluded", "number"), *COLUMNS[1:])
    assert with_role(settings, columns, "id", "input")["exclude"] == ("id_of_owner",)
