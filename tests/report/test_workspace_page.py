"""The page of a workspace: well-formed, self-contained, and its cells where the workspace is."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import surefoot as sf
from surefoot.ik.analysis.workspace import sample_workspace
from surefoot.report.workspace_page import section_svg, write_workspace_page


@pytest.fixture(scope="module")
def humanoid():
    return sf.load("humanoid")


@pytest.fixture(scope="module")
def workspace(humanoid):
    return sample_workspace(humanoid, "left_palm", np.random.default_rng(0), "torso", samples=20_000)


def test_the_page_is_whole_and_self_contained(humanoid, workspace, tmp_path):
    path = tmp_path / "arm.html"
    write_workspace_page(path, workspace, humanoid)
    text = path.read_text(encoding="utf-8")
    assert text.count("<svg") == 6
    assert text.rstrip().endswith("</html>")
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    assert f"{workspace.volume:.4g}" in text
    assert [p.name for p in tmp_path.iterdir()] == ["arm.html"]


@pytest.mark.parametrize("pair", [(0, 2), (1, 2), (0, 1)])
def test_coloured_area_is_that_of_the_section(humanoid, workspace, pair):
    """Rectangles of the drawing add up to the occupied cells of the layer that the shoulder lies in."""
    svg = section_svg(workspace, humanoid, pair)
    rects = [r for r in ET.fromstring(svg).iter("rect") if float(r.get("height")) != 10.0]
    depth = ({0, 1, 2} - set(pair)).pop()
    layer = int((workspace.root - workspace.corner)[depth] / workspace.cell)
    cells = int(np.take(workspace.occupied, layer, depth).sum())
    side = min(float(r.get("height")) for r in rects) - 0.3
    assert sum(round((float(r.get("width")) - 0.3) / side) for r in rects) == cells


def test_planar_arms_have_one_section(tmp_path):
    robot = sf.load("arm4")
    found = sample_workspace(robot, "tip", np.random.default_rng(0), samples=5000)
    write_workspace_page(tmp_path / "arm4.html", found, robot)
    text = (tmp_path / "arm4.html").read_text(encoding="utf-8")
    assert text.count("<svg") == 2
    assert "m²" in text
