"""What a tick of whole-body control looks at before and after its search; loops for `NativeCode`."""

from __future__ import annotations

from math import sqrt

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


def is_plausible(
    q: Floats, nq: int, farthest: float, v: Floats, nv: int, fastest: float, turn: int, unit: float
) -> int:
    """Whether a state is finite, not absurdly far or fast, and has a unit quaternion at `turn`, if that is not −1."""
    for i in range(nq):
        if not abs(q[i]) < farthest:
            return 0
    for i in range(nv):
        if not abs(v[i]) < fastest:
            return 0
    length = 1.0
    if turn >= 0:
        length = q[turn] * q[turn] + q[turn + 1] * q[turn + 1] + q[turn + 2] * q[turn + 2] + q[turn + 3] * q[turn + 3]
    return 1 if abs(length - 1.0) < unit else 0


def approach(
    count: int, spare: Floats, rates: Floats, age: float, braking: float, time: float, scale: float, least: Floats
) -> None:
    """The least rates of change of distances, [control.clearance], times `scale`; `age` ago they were `spare`."""
    for i in range(count):
        now = spare[i] + age * rates[i]
        fastest = min(sqrt(2.0 * braking * max(now, 0.0)), now / time)
        least[i] = scale * (-fastest - rates[i]) / time


TICK = NativeCode([is_broken, outcome, is_plausible])
APPROACH = NativeCode([approach], exact=True)
