"""Why constraints cannot hold together: an irreducible conflict, what each member would have to yield, and a sentence.

    found = explain([
        Group("right-knee torque limit", A, -80.0, 80.0, unit="Nm"),
        Group("20 cm step", a_step, 0.20, 0.20, unit="cm", scale=0.01, weight=2.0),
        Group("dynamics", M, b, b, may_relax=False),
    ], place="in phase 3")
    found.sentence       # "20 cm step, dynamics and right-knee torque limit conflict in phase 3: …"

For linear and quadratic programs: their objectives have no part in whether there is a solution.
"""

from surefoot.solvers.explain.explanation import explain
from surefoot.solvers.explain.groups import Group
from surefoot.solvers.explain.program import UnsolvedError
from surefoot.solvers.explain.result import Explanation, Member, Relaxation

__all__ = ["Explanation", "Group", "Member", "Relaxation", "UnsolvedError", "explain"]
