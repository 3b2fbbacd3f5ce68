"""Balances: do forces and torques that came with a motion explain it?

Logs of engines hold the torques and wrenches of the step before a sample, or of the one after it; plans hold those at
the sample. Which of these a motion has is told by what explains it best (`hold_of`), for all of it at once. Residuals
are means over windows, because forces of hard contacts come and go between samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.feasibility.balance_energy import energy_residual
from surefoot.feasibility.balance_joints import joint_residual
from surefoot.feasibility.balance_momentum import momentum_residual
from surefoot.feasibility.series import Series, skipped
from surefoot.feasibility.torque_spikes import torque_spikes

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["check_balance"]


def check_balance(case: Case) -> list[Series]:
    """`momentum_residual`, of the whole robot and of its joints, and `energy_residual`."""
    whole = momentum_residual(case)
    hold = None if whole is None else whole.hold
    joints = joint_residual(case, hold)
    out = [found.series for found in (whole, joints) if found is not None]
    hold = hold or (joints.hold if joints is not None else None)
    spikes = torque_spikes(case, hold or "sample")
    out += [] if spikes is None else [spikes]
    if not out:
        out = [
            skipped(
                "momentum_residual",
                "too little came with the motion: contact wrenches, or torques of a robot without closed chains",
            )
        ]
    return [*out, energy_residual(case, hold)]
