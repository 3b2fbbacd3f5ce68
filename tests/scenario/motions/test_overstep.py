"""Steps over boxes: solved, followed in MuJoCo, and audited."""

from pathlib import Path

import pytest

from surefoot.scenario import run_scenario


@pytest.mark.slow
@pytest.mark.parametrize(("name", "height"), [("overstep-elastic", 0.2), ("overstep-high", 0.47)])
def test_the_robot_steps_over_the_box(name: str, height: float, tmp_path: Path) -> None:
    metrics = run_scenario(name, out=tmp_path / "run").metrics
    assert metrics["verdict"] == "passed"
    assert metrics["audit"]["defects"] == 0
    assert metrics["obstacle_height_m"] == pytest.approx(height, abs=1e-3)
    assert metrics["run_base_error_m"] < 0.04
