"""Rigid-body geometry: rotations, placements, twists, wrenches, inertias.

Conventions, for all modules:

- SI units, radians. `R_a_b`, `T_a_b` map coordinates in b to coordinates in a, so neighbours cancel.
- Twists (v, ω) and wrenches (f, m) are linear first, about the origin of their frame and in its axes; power is Vᵀ F.
- Quaternions are x, y, z, w. Spinors are (a, b₁, b₂, b₃). `quaternion.to_wxyz` and `from_wxyz` convert.
- Angular errors and increments are rotation vectors. Where ω can be meant in two ways, `frame` is "body" or "world".
- Functions take float arrays or arrays of symbols (`surefoot.ops`) and return the same kind. They do not branch on
  values, so one text serves both; only refusals of singular numbers look at them.

Modules: `so3`, `se3`, `quaternion`, `euler`, `parameters`, `spinor`, `geometric_algebra`, `twist`, `wrench`, `inertia`;
`stumpff` and `rates` hold what they share.
"""

from surefoot.spatial import (
    euler,
    geometric_algebra,
    inertia,
    parameters,
    quaternion,
    rates,
    se3,
    so3,
    spinor,
    stumpff,
    twist,
    wrench,
)
from surefoot.spatial.rates import Frame, SingularParametersError

__all__ = [
    "Frame",
    "SingularParametersError",
    "euler",
    "geometric_algebra",
    "inertia",
    "parameters",
    "quaternion",
    "rates",
    "se3",
    "so3",
    "spinor",
    "stumpff",
    "twist",
    "wrench",
]
