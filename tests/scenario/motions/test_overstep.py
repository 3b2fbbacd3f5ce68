"""Steps over boxes: solved, followed in MuJoCo, and audited."""

from pathlib import Path

import pytest

import surefoot as sf
from surefoot.ocp import motions
from surefoot.ocp.transcription import stages_of
from surefoot.scenario import run_scenario


@pytest.mark.slow
@pytest.mark.parametrize(("name", "height"), [("overstep-elastic", 0.2), ("overstep-high", 0.47)])
def test_the_robot_steps_over_the_box(name: str, height: float, tmp_path: Path) -> None:
    metrics = run_scenario(name, out=tmp_path / "run").metrics
    assert metrics["verdict"] == "passed"
    assert metrics["audit"]["defects"] == 0
    assert metrics["obstacle_height_m"] == pytest.approx(height, abs=1e-3)
    assert metrics["run_base_error_m"] < 0.04


def test_rows_of_impacts_act_at_impacts_only() -> None:
    for stage in stages_of(motions.bound(sf.load("solo12"))):
        names = [block.name for block in stage.structure.blocks]
        assert ("shock FL_FOOT" in names) == (stage.structure.kind == "impact")
