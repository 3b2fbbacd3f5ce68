"""Commands that compare methods and repeat studies: `surefoot regions`, `compare-controllers`, `study-walk`."""

import typer

from surefoot.cli.study.controllers import compare_controllers
from surefoot.cli.study.distribution import compare_distribution
from surefoot.cli.study.optimal import study_nodes, study_swingup, study_walk
from surefoot.cli.study.regions import regions
from surefoot.cli.study.swing_up import swing_up
from surefoot.cli.study.walkers import compare_walkers

__all__ = ["study"]

study = typer.Typer()
_COMPARISONS = (regions, compare_distribution, compare_controllers, swing_up, compare_walkers)
for command in (*_COMPARISONS, study_walk, study_swingup, study_nodes):
    study.command()(command)
