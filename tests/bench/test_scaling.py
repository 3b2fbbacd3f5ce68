"""Growing trees: answers, what is left out, the printed table; no figure is judged."""

from __future__ import annotations

import json
import re
from itertools import combinations, product
from xml.etree import ElementTree

import numpy as np
import pytest

from bench.cases import scaling
from bench.cases.scaling import FAMILIES, KINDS, METHODS, TABLE_3_1, _growth, _problem, _readings, _table
from bench.cases.scaling_plot import _seconds, gather, plot_svg, write_plot
from bench.check import WrongAnswerError
from surefoot.dynamics import rnea
from surefoot.errors import NotSupportedError

SOME = [FAMILIES[k] for k in (0, 3, 4)]


@pytest.fixture(scope="module")
def result():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaling, "FAMILIES", SOME)
        return scaling.run(8)


@pytest.mark.slow
def test_all_families_methods_and_kinds(result):
    assert json.loads(json.dumps(result)) == result
    found = {(row["family"], row["method"], row["kind"], row["bodies"]) for row in result["rows"]}
    for family in SOME:
        for method in METHODS:
            cells = {(family.name, method, kind, n) for kind in ("base", "compiled") for n in (4, 8)}
            assert cells <= found
    assert all(0.0 < row["p5_us"] <= row["p50_us"] <= row["p95_us"] for row in result["rows"])
    assert result["left_out"] == []
    assert len(result["growth"]) == len(result["rows"]) / 2
    assert result["readings"] == result["table_3_1"] == []


@pytest.mark.slow
def test_bodies_are_counted_with_rotors(result):
    for row in result["rows"]:
        assert row["dofs"] == row["bodies"] // (2 if "rigid" in row["family"] else 1)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_expected_acceleration_needs_the_given_forces(family):
    problem = _problem(family, 16, seed=1)
    q, v, tau = problem.state
    np.testing.assert_allclose(rnea(problem.robot.tree, q, v, problem.expected), tau, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES[2:4], ids=lambda family: family.name)
def test_geared_trees_by_o_n_are_right(family, kind):
    problem = _problem(family, 16, seed=2)
    _, answer = scaling._prepare(problem, "aba", kind)
    np.testing.assert_allclose(answer(), problem.expected, rtol=1e-9, atol=1e-9)


def test_a_wrong_answer_is_refused(monkeypatch):
    right = scaling.forward_dynamics
    monkeypatch.setattr(scaling, "forward_dynamics", lambda *args, **options: right(*args, **options) * (1 + 1e-9))
    monkeypatch.setattr(scaling, "FAMILIES", FAMILIES[:1])
    with pytest.raises(WrongAnswerError, match="coil, 4 bodies"):
        scaling.run(4)


def test_what_does_not_fit_into_the_time_is_left_out(monkeypatch):
    monkeypatch.setattr(scaling, "FAMILIES", FAMILIES[:1])
    monkeypatch.setattr(scaling, "_ALL_SECONDS", 0.0)
    found = scaling.run(8)
    assert found["rows"] == []
    assert len(found["left_out"]) == 6
    assert all(item["from_bodies"] == 4 for item in found["left_out"])
    assert all("would take more than 0 s" in item["why"] for item in found["left_out"])


def test_the_printed_times_have_the_printed_readings():
    times = dict(TABLE_3_1)
    assert all(row["ratio"] == row["source_ratio"] for row in _table(times))
    ratios = {(row["family"], row["method"], row["kind"]): row["ratio"] for row in _table(times)}
    assert ratios["coil", "CRBA", "base"] == pytest.approx(2.41, abs=0.01)
    assert ratios["coil", "NE", "compiled"] == pytest.approx(8.95, abs=0.02)
    assert ratios["dill", "NE", "compiled"] == pytest.approx(2.26, abs=0.02)
    readings = _readings(times)
    assert len(readings) == 9
    assert all(row["holds"] and row["ratio"] == row["source_ratio"] for row in readings)


def test_readings_can_fail():
    times = dict(TABLE_3_1) | {("dill", 32, "NE", "compiled"): 1e-4, ("dill", 32, "O(n)", "compiled"): 9e-5}
    assert [row["text"][:20] for row in _readings(times) if not row["holds"]] == [
        "branching leaves O(n", "branching helps NE: ", "NE beats CRBA on dil", "O(n) beats CRBA on d",
    ]  # fmt: skip


def test_growth_is_the_exponent_at_the_end():
    times = {("coil", n, "NE", "base"): n**3 + 1e9 * (n == 4) for n in (4, 8, 16)}
    assert _growth(times) == [
        {"family": "coil", "method": "NE", "kind": "base", "bodies": [8, 16], "exponent": pytest.approx(3.0)}
    ]


# -- the plot ---------------------------------------------------------------------------------------------------------

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
    assert gather(RESULT["left_out"]) == [("coil, from 8 bodies on", "NE base, NE compiled", "long")]


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.0, "1 s"), (10.0, "10 s"), (1e-3, "1 ms"), (1e-4, "100 µs"), (1e-10, "0.1 ns")]
)
def test_seconds_for_people(seconds, text):
    assert _seconds(seconds) == text
