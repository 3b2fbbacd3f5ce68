"""Audit results as plain data."""

from __future__ import annotations

import json

import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.motion.audit_result import AuditItem, AuditResult, Finding, Replay


def result(severity: str = "defect") -> AuditResult:
    inner = Finding("zmp", "wrenches", "defect", "", 1.0, 2.0, 1.5, 0.1, 0.0, "m", 0.1, "tips")
    top = Finding(
        "foot_slip", "kinematics", severity, "foot", 1.0, 2.0, 1.5, 0.03, 0.01, "m", 0.02, "slips", covers=(inner,)
    )
    item = AuditItem(
        "foot_slip", "kinematics", "slip", "m", "failed", "", np.arange(3.0), np.array([1.0, np.nan, -1.0])
    )
    replay = Replay("mujoco", False, 1.2, np.arange(2.0), np.array([np.nan, np.nan]), np.array([0.1, 0.2]))
    return AuditResult("g1", 3.0, 100, (item,), (top,), replay=replay, tolerances={"limit": float("inf")})


def test_it_is_json_without_nan(tmp_path) -> None:
    result().save(tmp_path / "a.json")
    data = json.loads((tmp_path / "a.json").read_text(), parse_constant=pytest.fail)
    assert data["findings"][0]["covers"][0]["item"] == "zmp"
    assert data["items"][0]["margin"] == -1.0
    assert data["replay"]["base_error_m"] is None
    assert data["tolerances"]["limit"] is None


def test_remarks_do_not_fail() -> None:
    assert not result().passed
    assert result("remark").passed


def test_items_by_name() -> None:
    assert result().item("foot_slip").least_margin == -1.0
    with pytest.raises(SurefootError, match="foot_slip"):
        result().item("foot_slp")


@pytest.mark.parametrize(
    ("status", "margin", "bound", "text"),
    [
        ("passed", 0.25, False, "0.25 m"),
        ("passed", 0.05, True, "≥ 0.05 m"),
        ("passed", 0.0, False, "ok"),
        ("passed", -0.003, False, "off by 0.003 m, tolerance 0.005 m"),
        ("failed", -0.03, False, "-0.03 m"),
        ("passed", np.inf, False, "no limit"),
        ("skipped", 1.0, False, ""),
    ],
)
def test_what_only_a_tolerance_lets_pass_is_not_called_a_margin(status, margin, bound, text):
    item = AuditItem(
        "self_collision", "collision", "self-collision", "m", status, margin=np.array([np.inf, margin]), is_bound=bound,
        tolerance=0.005,
    )  # fmt: skip
    assert item.margin_text == item.to_dict()["margin_text"] == text
