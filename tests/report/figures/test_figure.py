"""Figures: lines within the frame, areas cut at it, names escaped."""

import re

import numpy as np

from surefoot.report.figures import Area, Line, figure_svg


def test_lines_and_areas_stay_in_the_frame() -> None:
    square = np.array([[-9.0, -9.0], [9.0, -9.0], [9.0, 9.0], [-9.0, 9.0]])
    text = figure_svg(
        [Line([0.0, 1.0, 2.0, 50.0], [0.0, 1.0, np.nan, 1.0], "a < b")],
        ("x", "y"), [Area(square, "all", "#123456")], limits=((0.0, 2.0), (-1.0, 1.0)),
    )  # fmt: skip
    assert "a &lt; b" in text
    corners = np.array([float(v) for v in re.findall(r"[\d.]+", re.findall(r'polygon points="([^"]*)"', text)[0])])
    assert corners.reshape(-1, 2).min() >= 0.0
    assert (corners.reshape(-1, 2) <= [460.0, 300.0]).all()
    path = re.findall(r'<path d="([^"]*)"', text)[0]
    assert path.count("M") == 1
    assert path.count("L") == 1  # what is NaN or outside is not drawn
