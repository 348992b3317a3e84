"""Keys by which an operator of one Program is found in another."""

from __future__ import annotations

from resources.operator_keys import (
    BACKWARD,
    FORWARD,
    LOSS,
    UPDATE,
    OperatorKey,
    network_call,
    numbered,
    phase_of,
)


def _operator(name: str, layer: str = "", role: object = None) -> dict[str, object]:
    found: dict[str, object] = {"type": name}
    if layer:
        found["layer"] = layer
    if role is not None:
        found["notes"] = {"attrs": {"op_role": role}}
    return found


def test_operators_of_one_call_and_type_are_numbered_in_order() -> None:
    blocks = [
        {"idx": 0, "ops": [_operator("relu", "a"), _operator("relu"), _operator("relu", "a", 1)]},
        {"idx": 1, "ops": [_operator("relu", "a")]},
    ]
    assert [(block, index, key) for block, index, key, _ in numbered({"blocks": blocks})] == [
        (0, 0, OperatorKey(FORWARD, "a", "relu", 0)),
        (0, 1, OperatorKey(FORWARD, "", "relu", 0)),
        (0, 2, OperatorKey(BACKWARD, "a", "relu", 0)),
        (1, 0, OperatorKey(FORWARD, "a", "relu", 1)),
    ]


def test_the_phase_is_paddles_role() -> None:
    roles = {0: FORWARD, 256: FORWARD, 257: BACKWARD, 1: BACKWARD, 2: UPDATE, "1": FORWARD, None: FORWARD}
    assert [phase_of(_operator("mul", role=role)) for role in roles] == list(roles.values())
    assert phase_of({"type": "mul", "notes": {"attrs": 3}}) == FORWARD


def test_paths_are_those_within_the_network() -> None:
    assert [network_call(path, "network") for path in ("network", "network.a.b", "", "networks")] == [
        "", "a.b", LOSS, LOSS,
    ]  # fmt: skip
    assert network_call("a.b", "") == "a.b"
