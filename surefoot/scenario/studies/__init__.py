"""Studies: what scenarios measure and judge beside the usual."""

from collections.abc import Mapping

from surefoot.scenario.studies.drop import drop
from surefoot.scenario.studies.estimate import estimate
from surefoot.scenario.studies.findings import Findings, StudiedRun, Study
from surefoot.scenario.studies.formalism import formalism
from surefoot.scenario.studies.free_floating import free_floating
from surefoot.scenario.studies.gears import gears
from surefoot.scenario.studies.impact import impact
from surefoot.scenario.studies.mechanism import mechanism
from surefoot.scenario.studies.motion import motion
from surefoot.scenario.studies.pendulum_drift import pendulum_drift
from surefoot.scenario.studies.reach import reach
from surefoot.scenario.studies.servo import servo
from surefoot.scenario.studies.slide import slide
from surefoot.scenario.studies.stand import stand
from surefoot.scenario.studies.touch import touch

__all__ = ["STUDIES", "Findings", "StudiedRun", "Study"]

STUDIES: Mapping[str, Study] = {
    "drop": drop,
    "estimate": estimate,
    "formalism": formalism,
    "free_floating": free_floating,
    "gears": gears,
    "impact": impact,
    "mechanism": mechanism,
    "motion": motion,
    "pendulum_drift": pendulum_drift,
    "reach": reach,
    "servo": servo,
    "slide": slide,
    "stand": stand,
    "touch": touch,
}
