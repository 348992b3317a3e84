"""IdentityMap and IdentitySet: keys that are equal, or can't be compared, are distinguished by identity."""

import gc
import weakref

import numpy as np
import pytest

from engine.core.containers.identity import IdentityMap, IdentitySet


class Key:
    """Equal to every other one, without a hash: as awkward as a key can be."""

    __hash__ = None

    def __eq__(self, other):
        return True


def test_equal_keys_are_distinct():
    a, b = Key(), Key()
    found = IdentityMap([(a, 1), (b, 2)])
    assert (found[a], found[b], len(found)) == (1, 2, 2)
    assert [key is each for key, each in zip(found, (a, b), strict=True)] == [True, True]
    assert Key() not in found


def test_arrays_are_keys():
    x, y = np.zeros(3), np.zeros(3)
    assert IdentityMap({}).get(x) is None
    found = IdentitySet([x])
    assert x in found
    assert y not in found


def test_a_key_lives_as_long_as_its_entry():
    key = Key()
    alive = weakref.ref(key)
    found, members = IdentityMap([(key, 1)]), IdentitySet([key])
    del key
    gc.collect()
    assert alive() is not None
    members.clear()
    found.clear()
    gc.collect()
    assert alive() is None


def test_a_map_is_changed_like_a_dict():
    a, b, c = Key(), Key(), Key()
    found = IdentityMap([(a, 1)])
    found[b] = 2
    found[a] = 3
    assert list(found.values()) == [3, 2]
    assert found.setdefault(a, 9) == 3
    assert found.setdefault(c, 4) == 4
    assert found.pop(b) == 2
    assert found.pop(b, None) is None
    assert found.get(b, "none") == "none"
    del found[a]
    assert [(key is c, value) for key, value in found.items()] == [(True, 4)]


@pytest.mark.parametrize("ask", [lambda m, k: m[k], lambda m, k: m.pop(k), lambda m, k: m.__delitem__(k)])
def test_a_missing_key_raises(ask):
    with pytest.raises(KeyError):
        ask(IdentityMap(), "absent")


def test_a_copy_is_independent():
    a, b = Key(), Key()
    found = IdentityMap([(a, 1)])
    copied = found.copy()
    assert copied == found
    copied[b] = 2
    assert b not in found
    assert copied != found
    members = IdentitySet([a])
    more = members.copy()
    more.add(b)
    assert b not in members


def test_maps_are_equal_by_identity_of_keys():
    a, b = Key(), Key()
    assert IdentityMap([(a, 1), (b, 2)]) == IdentityMap([(b, 2), (a, 1)])
    assert IdentityMap([(a, 1)]) != IdentityMap([(b, 1)])
    assert IdentityMap([(a, 1)]) != {}


def test_a_set_is_changed_like_a_set():
    a, b, c = Key(), Key(), Key()
    members = IdentitySet([a, b, a])
    assert len(members) == 2
    members.update([b, c])
    members.discard(a)
    members.discard(a)
    assert [m is each for m, each in zip(members, (b, c), strict=True)] == [True, True]
    with pytest.raises(KeyError):
        members.remove(a)


def test_sets_are_combined_by_identity():
    a, b, c = Key(), Key(), Key()
    assert IdentitySet([a, b]) | [c] == IdentitySet([c, b, a])
    assert IdentitySet([a, b]) - IdentitySet([b]) == IdentitySet([a])
    assert IdentitySet([a, b]) & IdentitySet([b, c]) == IdentitySet([b])
    assert IdentitySet([a]) != IdentitySet([b])
    members = IdentitySet([a])
    members |= [b]
    assert b in members
