"""What a tick of whole-body control looks at before and after its search; loops for `NativeCode`."""

from __future__ import annotations

from surefoot.codegen.loops import Floats, Ints, NativeCode


def is_broken(A: Floats, entries: int, lower: Floats, upper: Floats, total: int) -> int:
    """Whether rows A or their ends are not finite, or ends are crossed; now and then by mistake for huge numbers."""
    level = 0.0
    for i in range(entries):
        level += A[i]
    ordered = 0
    for i in range(total):
        ordered += 1 if lower[i] <= upper[i] else 0
    return 0 if ordered == total and level * 0.0 == 0.0 else 1


def outcome(
    values: Floats, lower: Floats, upper: Floats, physics: int, first: int, nu: int, h: Floats, limits: Floats,
    scale: float, spans: Ints, carries: Ints, contacts: int, farthest: float, leaders: Ints, ratios: Floats, nv: int,
    x: Floats, begin: int, wrenches: int, found: Floats
) -> int:  # fmt: skip
    """Torques (nu,), accelerations (nv,), wrenches, and violation in one row, from the values of rows and unknowns x.

    Torques are the values from row `first` on over `scale`, plus h, within their limits; accelerations are `ratios`
    times those of their leaders; the violation is the largest of the first `physics` rows, over `scale`.

    Returns:
        0; 1 if the rows of a contact that carries, which are in `spans`, are missed by more than `farthest`; 2 if
        torques or accelerations are not finite.
    """
    most = 0.0
    for i in range(physics):
        beyond = max(values[i] - upper[i], lower[i] - values[i])
        most = max(most, beyond)
    found[nu + nv + wrenches] = most / scale
    result = 0
    for k in range(contacts):
        if carries[k] != 0:
            for i in range(spans[2 * k], spans[2 * k + 1]):
                if max(values[i] - upper[i], lower[i] - values[i]) > farthest:
                    result = 1
    level = 0.0
    for i in range(nu):
        torque = values[first + i] / scale + h[i]
        level += torque * 0.0
        found[i] = max(min(torque, limits[i]), -limits[i])
    for i in range(nv):
        found[nu + i] = ratios[i] * x[leaders[i]]
        level += found[nu + i] * 0.0
    for i in range(wrenches):
        found[nu + nv + i] = x[begin + i]
    return result if level == 0.0 else 2


TICK = NativeCode([is_broken, outcome])
