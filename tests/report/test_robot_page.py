"""The page of a robot: self-contained, true to the robot, and it fits every window."""

from __future__ import annotations

import re

import numpy as np
import pytest

from surefoot.report import robot_page
from surefoot.report.stick_figure import figure_lines
from surefoot.robot import zoo
from surefoot.robot.check import inspect_robot


@pytest.fixture(scope="module")
def page() -> str:
    return robot_page(inspect_robot("solo12"))


def test_it_asks_for_nothing_from_outside(page: str) -> None:
    assert not re.search(r'(?:src|href)\s*=\s*["\'](?!data:)', page)
    assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page


def test_it_is_a_report_with_the_robot_in_three_dimensions_and_its_findings(page: str) -> None:
    assert '"meshes":' in page.replace(" ", "")
    assert "Findings" in page
    assert "sound" in page


def test_a_robot_that_cannot_be_loaded_still_has_a_page(tmp_path) -> None:
    file = tmp_path / "bad.urdf"
    file.write_text("<robot name='r'><link name='a'/><link name='a'/></robot>")
    assert "defects found" in robot_page(inspect_robot(str(file)))


def test_the_figure_joins_parents_and_children() -> None:
    robot = zoo.load("anymal")
    bones, edges = figure_lines(robot, robot.home)
    frames = robot.placements(robot.home)
    assert len(edges) == 4
    np.testing.assert_allclose(bones[0], [frames["base"][:3, 3], frames[robot.tree.body_names[1]][:3, 3]])
    np.testing.assert_allclose(edges[..., 2], 0.0, atol=1e-6)


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, pytest.param(1100, marks=pytest.mark.slow)])
def test_it_fits_the_window_and_raises_no_errors(opened, width) -> None:
    page = opened(robot_page(inspect_robot("g1")), width, ready=False)
    assert page.problems == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
