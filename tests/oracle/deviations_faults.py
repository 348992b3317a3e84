"""Faults of Paddle 2.6.2 that are not copied, with both answers; see deviations.py."""

FAULTS: dict[str, str] = {
    "faults:instance_norm/NLC": (
        "Paddle ignores data_format='NLC' and normalizes along the channels; the engine along the length"
    ),
    **dict.fromkeys(
        ["faults:trace/1 of axes 1, 0", "faults:trace/-1 of axes 1, 0", "faults:trace/1 of axes 2, 0"],
        "Paddle takes the diagonal of the opposite offset where axis1 > axis2, 18 for offset 1 of "
        "arange(12) [3, 4]; the engine that of numpy.trace, 13",
    ),
    "faults:kthvalue/program keepdim": (
        "Paddle's Program loses the dimension, [3]; the engine keeps it as eagerly, [3, 1]"
    ),
    "faults:fill_diagonal_tensor/gradient": (
        "Paddle gives y no gradient, None; the engine's is the diagonal of the incoming one, [0, 5, 10]"
    ),
    **dict.fromkeys(
        ["faults:BatchNorm1D/gradient without bias", "faults:BatchNorm1D/gradient without weight"],
        "Paddle gives the one parameter of a BatchNorm no gradient, None; the engine's is that of both",
    ),
    "faults:pinv/singular": (
        "Paddle divides by eigenvalues that are rounding, up to 6.4e6; the engine's are up to 0.046"
    ),
    "faults:bincount/gradient of weights": (
        "Paddle gives weights no gradient, stop_gradient is True; the engine does, False"
    ),
    "faults:cross_entropy/program with an ignored label": (
        "Paddle's Program divides by all samples, 1.627; the engine by those that count, as eagerly, 2.440"
    ),
    **dict.fromkeys(
        ["faults:slice/end before start raises", "faults:getitem/end before start raises"],
        "a slice whose end is before its start is empty, as in Python; Paddle raises ValueError",
    ),
}
