"""View: points of the scene and of the screen, zooms and fits."""

from __future__ import annotations

import pytest

from widgets.program_diagram.view import MARGIN, READABLE, Bounds, View


def test_points_go_to_the_screen_and_back() -> None:
    view = View(13.0, -40.0, 0.7)
    assert view.to_scene(*view.to_screen(250.0, 90.0)) == pytest.approx((250.0, 90.0))


def test_zooming_keeps_the_point_under_the_pointer() -> None:
    view = View(13.0, -40.0, 0.7)
    before = view.to_scene(300, 200)
    assert view.zoomed(2.5, 300, 200).to_scene(300, 200) == pytest.approx(before)


def test_a_part_is_fitted_into_the_middle() -> None:
    view = View.fitting(Bounds(100, 100, 2100, 1100), 800, 600)
    left, top = view.to_screen(100, 100)
    right, bottom = view.to_screen(2100, 1100)
    assert (left, right) == pytest.approx((MARGIN, 800 - MARGIN))
    assert top == pytest.approx(600 - bottom)
    assert View.fitting(Bounds(0, 0, 10, 10), 800, 600).zoom == 1.0


def test_a_tall_scene_begins_at_its_top_where_titles_can_be_read() -> None:
    first = Bounds(100, 20, 200, 60)
    view = View.beginning(Bounds(0, 0, 300, 20_000), first, 800, 600)
    assert view.zoom == 1.0
    assert view.to_screen(150, 0) == pytest.approx((400, MARGIN))
    assert View.beginning(Bounds(0, 0, 9_000, 9_000), first, 800, 600).zoom == READABLE
    small = Bounds(0, 0, 300, 300)
    assert View.beginning(small, first, 800, 600) == View.fitting(small, 800, 600)


@pytest.mark.parametrize("left", [20.0, 4000.0, 8880.0])
def test_a_wide_scene_begins_around_its_first_box(left: float) -> None:
    whole, first = Bounds(0, 0, 9_000, 9_000), Bounds(left, 6000, left + 100, 6040)
    view = View.beginning(whole, first, 800, 600)
    assert view.seen(800, 600).contains(first)
    assert view.seen(800, 600).left >= -MARGIN / READABLE - 1e-6
    assert view.seen(800, 600).right <= 9_000 + MARGIN / READABLE + 1e-6


@pytest.mark.parametrize(("dx", "dy"), [(1e6, 0), (-1e6, 0), (0, 1e6), (0, -1e6)])
def test_some_of_the_scene_stays_in_view(dx: float, dy: float) -> None:
    whole = Bounds(0, 0, 500, 400)
    seen = View().moved(dx, dy).clamped(whole, 800, 600).seen(800, 600)
    assert seen.left < whole.right - 60
    assert seen.right > whole.left + 60
    assert seen.top < whole.bottom - 60
    assert seen.bottom > whole.top + 60
