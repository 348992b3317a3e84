"""The colours of runs, in light and dark: the place of a run's colour means the same in both.

Any two differ for people who lack one kind of cones too, mostly in lightness; a test computes by how much.
"""

from __future__ import annotations

LIGHT = ("#3B5BDB", "#E85708", "#7C9566", "#A96884", "#1F97C0", "#612D6D", "#8B0C02", "#39453F")
DARK = ("#7C93FF", "#EC990B", "#79FC9A", "#FE2C9D", "#18837F", "#FDC5FA", "#9D674C", "#D1CEC7")


def color_in(colors: tuple[str, ...], color: int | str) -> str:
    """A run's colour among ``colors``, one of the two above.

    An int counts through them; a text that is a run colour of either theme becomes its counterpart; any other
    colour stays as the user chose it.
    """
    if isinstance(color, int):
        return colors[color % len(colors)]
    for known in (LIGHT, DARK):
        if color.upper() in known:
            return colors[known.index(color.upper())]
    return color
