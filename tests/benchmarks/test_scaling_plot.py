"""The plot is well-formed, inside its frame, and its texts do not lie on each other."""

from __future__ import annotations

import re
from itertools import combinations, product
from xml.etree import ElementTree

import pytest

from surefoot.benchmarks import write_plot
from surefoot.benchmarks.scaling import FAMILIES, KINDS, METHODS
from surefoot.benchmarks.scaling_plot import _seconds, grouped, plot_svg
from surefoot.errors import NotSupportedError

SVG = "{http://www.w3.org/2000/svg}"
ROWS = [
    {"family": family.name, "method": method, "kind": kind, "bodies": n, "p50_us": n * (k + 1) * first}
    for family, (k, method), (kind, first), n in product(
        FAMILIES, enumerate(METHODS), zip(KINDS, (1e4, 0.1), strict=True), (4, 8, 64, 256)
    )
]
RESULT = {
    "rows": ROWS, "date": "2024-01-01", "seed": 0, "machine": {"cpu": "a <cpu> & more"}, "table_3_1": [],
    "readings": [{"text": "x < y", "ratio": 2.0, "source_ratio": None, "holds": True}],
    "left_out": [{"family": "coil", "from_bodies": 8, "method": "NE", "kind": kind, "why": "long"} for kind in KINDS],
}  # fmt: skip


def boxes(root: ElementTree.Element) -> list[tuple[float, float, float, float]]:
    """Left, top, right, bottom of the texts that are not turned, letters taken as 0.6 of their size."""
    out = []
    for item in root.iter(f"{SVG}text"):
        if item.get("transform"):
            continue
        size, x, y = (float(item.get(key)) for key in ("font-size", "x", "y"))
        width = 0.6 * size * len(item.text)
        left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[item.get("text-anchor")] * width
        out.append((left, y - 0.75 * size, left + width, y))
    return out


@pytest.mark.parametrize("families", [1, 2, 6])
def test_the_plot_is_whole_and_inside_its_frame(families):
    names = [family.name for family in FAMILIES[:families]]
    root = ElementTree.fromstring(plot_svg([row for row in ROWS if row["family"] in names]))
    _, _, width, height = (float(x) for x in root.get("viewBox").split())
    lines = list(root.iter(f"{SVG}polyline"))
    assert len(lines) == families * len(METHODS) * len(KINDS)
    for line in lines:
        points = [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
        assert len(points) == 4
        assert all(0 < x < width and 0 < y < height for x, y in points)
        assert points == sorted(points, key=lambda p: (p[0], -p[1]))  # more bodies, more time
    for left, top, right, bottom in boxes(root):
        assert left >= 0
        assert right <= width
        assert top >= 0
        assert bottom <= height


def test_texts_do_not_overlap():
    found = boxes(ElementTree.fromstring(plot_svg(ROWS)))
    for a, b in combinations(found, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)


def test_both_axes_have_units_and_the_legend_names_everything():
    texts = [item.text for item in ElementTree.fromstring(plot_svg(ROWS)).iter(f"{SVG}text")]
    assert {"1 µs", "10 ms", "1 s", "bodies", "time of one call", *METHODS} <= set(texts)
    assert texts.count("bodies") == len(FAMILIES)


def test_a_single_point_is_a_plot_too():
    ElementTree.fromstring(plot_svg(ROWS[:1]))


def test_files(tmp_path):
    write_plot(tmp_path / "a.svg", RESULT)
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag == f"{SVG}svg"
    write_plot(tmp_path / "a.html", RESULT)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "a &lt;cpu&gt; &amp; more" in page
    assert "x &lt; y" in page
    assert not re.search(r'(?:src|href)\s*=\s*["\'](?!data:)', page)
    with pytest.raises(NotSupportedError, match=r"a\.png"):
        write_plot(tmp_path / "a.png", RESULT)
    assert {path.name for path in tmp_path.iterdir()} == {"a.svg", "a.html"}


def test_left_out_cases_are_gathered():
    assert grouped(RESULT["left_out"]) == [("coil, from 8 bodies on", "NE base, NE compiled", "long")]


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.0, "1 s"), (10.0, "10 s"), (1e-3, "1 ms"), (1e-4, "100 µs"), (1e-10, "0.1 ns")]
)
def test_seconds_for_people(seconds, text):
    assert _seconds(seconds) == text
