"""The page of a comparison of methods: whole, self-contained, with a place for every number."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from surefoot.report.methods.data import MethodRun, MethodsComparison
from surefoot.report.methods.page import bars_svg, lines_svg, methods_page

TIME = np.linspace(0.0, 1.0, 50)


def comparison() -> MethodsComparison:
    run = MethodRun("lagrange", "", 1e-6 * TIME**2, 1e-3 * TIME, 1e-6, 2.0, 2e-6, 1e-3, 65.0, 0.0, 0.0, 1e-4)
    other = replace(run, name="<b>", condition=None, acceleration_error=1e-15)
    failed = MethodRun("pinocchio", trouble="cannot express `a<b`")
    rows = ("tie.x", "tie.z")
    return MethodsComparison(
        "four-bar", "four-bar", "rk4", 0.002, 1.0, rows, 2, 1, TIME, (run, other, failed), (run,), "lagrange"
    )


def test_the_page_is_whole_and_self_contained():
    text = methods_page(comparison())
    assert text.rstrip().endswith("</html>")
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    assert text.count("<svg") == 6
    for svg in re.findall(r"<svg.*?</svg>", text):
        ET.fromstring(svg)
    assert "<b></td>" not in text
    assert "cannot express `a&lt;b`" in text


def test_a_line_rises_where_values_do():
    svg = ET.fromstring(lines_svg(TIME, {"gap": 1e-9 * 10.0 ** (6.0 * TIME)}, "gaps"))
    points = [tuple(map(float, p.split(","))) for p in svg.find("polyline").get("points").split()]
    x, y = np.array(points).T
    assert np.all(np.diff(x) > 0.0)
    assert np.ptp(np.diff(y) / np.diff(x)) < 0.1  # straight: the axis is logarithmic
    assert y[-1] < y[0]


def test_bars_are_as_long_as_logarithms():
    svg = ET.fromstring(bars_svg({"a": 1.0, "b": 10.0, "c": 100.0, "none": None}, "numbers"))
    widths = [float(rect.get("width")) for rect in svg.iter("rect")]
    assert len(widths) == 3
    assert widths[2] - widths[1] == pytest.approx(widths[1] - widths[0], abs=0.2)
    assert any(text.text == "–" for text in svg.iter("text"))


def test_nothing_and_constant_lines_are_drawn():
    for values in (np.zeros(50), np.full(50, 1e-3)):
        ET.fromstring(lines_svg(TIME, {"gap": values}, "gaps"))
    ET.fromstring(bars_svg({}, "numbers"))
