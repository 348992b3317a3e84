"""utils: nested structures in Paddle's order, unique names, version checks."""

from collections import OrderedDict, namedtuple

import pytest

import engine as paddle
from engine.core.errors import ArgumentError, DTypeError
from engine.utils import flatten, map_structure, pack_sequence_as, unique_name

Pair = namedtuple("Pair", "x y")


# What Paddle 2.6.2 gives: dicts go by sorted keys, and come back in the order they had.
@pytest.mark.parametrize(
    ("nest", "leaves"),
    [
        (3, [3]),
        ("text", ["text"]),
        ([], []),
        ({"b": 1, "a": [2, (3,)]}, [2, 3, 1]),
        (Pair(1, {"k": 2}), [1, 2]),
        (OrderedDict([("z", 1), ("a", 2)]), [2, 1]),
    ],
)
def test_structures_flatten_and_pack(nest, leaves):
    assert flatten(nest) == leaves
    packed = pack_sequence_as(nest, leaves)
    assert packed == nest
    assert type(packed) is type(nest)
    if isinstance(nest, dict):
        assert list(packed) == list(nest)


def test_map_structure_takes_several():
    assert map_structure(lambda a, b: a + b, {"x": [1, 2]}, {"x": [10, 20]}) == {"x": [11, 22]}
    assert map_structure(str, Pair(1, 2)) == Pair("1", "2")


def test_structures_that_differ_do_not_pack():
    with pytest.raises(ArgumentError, match=r"Could not pack sequence.*2 elements.*has 1"):
        pack_sequence_as([1, 2], [1])
    with pytest.raises(DTypeError, match="must be a sequence"):
        pack_sequence_as([1], 1)
    with pytest.raises(DTypeError, match="sortable"):
        flatten({1: 1, "a": 2})


def test_unique_names():
    with unique_name.guard():
        assert [unique_name.generate("fc") for _ in range(2)] == ["fc_0", "fc_1"]
        with unique_name.guard("A"):
            assert unique_name.generate("fc") == "Afc_0"
        before, checker = unique_name.switch()
        assert unique_name.generate("fc") == "fc_0"
        unique_name.switch(before, checker)
        assert unique_name.generate("fc") == "fc_2"


def test_versions():
    paddle.utils.require_version("2.0")
    paddle.utils.require_version("2.6.2", "2.6.2.0")
    with pytest.raises(Exception, match=r"VersionError: Paddle 2.7 or higher is required"):
        paddle.utils.require_version("2.7")
    with pytest.raises(Exception, match="VersionError"):
        paddle.utils.require_version("1.0", "2.6.1")
    with pytest.raises(ArgumentError, match=r"like '1.5.2.0'"):
        paddle.utils.require_version("2.x")
    with pytest.raises(DTypeError, match="must be str"):
        paddle.utils.require_version(2)


def test_modules_that_may_be_absent():
    assert paddle.utils.try_import("json").dumps(1) == "1"
    with pytest.raises(ImportError, match="pip install no_such_module"):
        paddle.utils.try_import("no_such_module.part")
    with pytest.raises(ImportError, match="do this"):
        paddle.utils.try_import("no_such_module", "do this")


def test_the_installation_is_checked(capsys):
    paddle.utils.run_check()
    assert capsys.readouterr().out.endswith("works well on cpu.\n")


def test_deprecated_functions_stay_what_they_are():
    def function():
        return 1

    assert paddle.utils.deprecated(since="1.0", level=1)(function) is function
