"""Studies: what scenarios measure and judge beside the usual."""

from collections.abc import Mapping

from surefoot.scenario.studies.drop import drop
from surefoot.scenario.studies.estimate import estimate
from surefoot.scenario.studies.findings import Findings, StudiedRun, Study
from surefoot.scenario.studies.free_floating import free_floating
from surefoot.scenario.studies.motion import motion
from surefoot.scenario.studies.reach import reach
from surefoot.scenario.studies.servo import servo
from surefoot.scenario.studies.slide import slide
from surefoot.scenario.studies.stand import stand
from surefoot.scenario.studies.touch import touch

__all__ = ["STUDIES", "Findings", "StudiedRun", "Study"]

STUDIES: Mapping[str, Study] = {
    "drop": drop,
    "estimate": estimate,
    "free_floating": free_floating,
    "motion": motion,
    "reach": reach,
    "servo": servo,
    "slide": slide,
    "stand": stand,
    "touch": touch,
}
