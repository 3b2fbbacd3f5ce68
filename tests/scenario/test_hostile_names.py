"""Pages of sweeps and studies show hostile names as texts: no element comes from them."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import surefoot as sf
from surefoot.markup import Html
from surefoot.report.stick_figure import figure_svg
from surefoot.scenario.sweeps.matrix import MatrixRow, matrix_page
from surefoot.scenario.sweeps.push_map import PushMap, PushRow, push_map_page
from tests.studio.hostile import evil


class Tags(HTMLParser):
    """Collects elements with their attributes, and texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags += [tag, *(f"{tag} {name}" for name, _ in attrs if name.startswith("on"))]
        assert not any(name == "href" and (value or "").startswith("javascript") for name, value in attrs)
        self.texts += " ".join(value or "" for _, value in attrs)

    def handle_data(self, data: str) -> None:
        self.texts += data


def a_matrix() -> str:
    return matrix_page([MatrixRow(evil("scenario"), evil("robot"), 0, "fell", evil("reason"))])


def a_push_map() -> Html:
    return push_map_page(PushMap(evil("robot"), False, (PushRow(0.0, 1.0, 0.5, False, "joint_pd"),)))


def a_figure() -> Html:
    robot = sf.Robot.from_tree(evil("robot"), [sf.Link("base", mass=1.0)], base="floating")
    return figure_svg(robot, robot.home)


@pytest.mark.parametrize("make", [a_matrix, a_push_map, a_figure])
def test_names_are_texts(make) -> None:
    page = Tags(str(make()))
    assert "evil-robot" in page.texts
    assert not {"iframe", "img"} & set(page.tags)
    assert not [tag for tag in page.tags if " on" in tag]
