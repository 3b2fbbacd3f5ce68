"""The parts of a tick between the kernels, where no sensor is silent; loops for `NativeCode` that round as numpy does.

k contacts with n points; arrays are flat, matrices by rows.
"""

from __future__ import annotations

from math import sqrt

from surefoot.codegen.loops import Floats, Ints, NativeCode


def begin(
    dt: float, readings: Floats, last: Floats, bias: Floats, densities: Floats, walks: Floats, size: int, true: Floats,
    known: Floats, noise: Floats, walk: Floats, k: int, wrenches: Floats, weight: float, probability: Floats,
    touch: Floats, share: Floats, bend: Floats
) -> int:  # fmt: skip
    """What the filter's step needs, from the mean of two readings; loads, and how far each is from its threshold.

    `touch` are threshold, hysteresis and width of `contact_probability`, whose tanh is that of `bend`.

    Returns:
        Whether all sensors were heard; else nothing else counts.
    """
    heard = 1
    for i in range(6):
        mean = 0.5 * (last[i] + readings[i])
        if mean != mean:
            heard = 0
        true[i] = mean - bias[i]
        known[i] = 1.0
        noise[i] = densities[i] / dt if dt > 0.0 else 0.0
    for i in range(size):
        walk[i] = walks[i] * dt
    for i in range(k):
        share[i] = wrenches[6 * i + 2] / weight
        if share[i] != share[i]:
            heard = 0
        bend[i] = 0.5 * ((share[i] - touch[0] + touch[1] * probability[i]) / touch[2])
    return heard if dt > 0.0 else 0


def settle(
    k: int, probability: Floats, bend: Floats, change: float, readings: Floats, last: Floats, bias: Floats, turn: Floats
) -> None:
    """Probabilities of touch a step later, from the tanh of `bend`; the readings become the last ones."""
    for i in range(k):
        probability[i] = probability[i] + change * (0.5 * (1.0 + bend[i]) - probability[i])
    for i in range(6):
        last[i] = readings[i]
    for i in range(3):
        turn[i] = readings[i] - bias[i]


def grip(
    n: int, contact_of: Ints, probability: Floats, share: Floats, full: float, wrenches: Floats, edges: int,
    owners: Ints, normals: Floats, offsets: Floats, away: Floats, near: float, out: Floats
) -> None:  # fmt: skip
    """How sure each point holds: how likely it touches, how loaded it is, and whether its sole tips over an edge.

    `full` is 1 over the share of the weight from which on a foothold is full; `away` (edges, n) is how far each point
    is from each edge, `near` how far the centre of pressure is from an edge over which a sole may tip.
    """
    for i in range(n):
        out[i] = 0.0
    for e in range(edges):
        at = 6 * owners[e]
        force = max(wrenches[at + 2], 1e-9)
        x = -wrenches[at + 4] / force
        y = wrenches[at + 3] / force
        inside = offsets[e] - (normals[2 * e] * x + normals[2 * e + 1] * y)
        if inside == inside:
            doubt = 1.0 - min(max(inside / near, 0.0), 1.0)
            for i in range(n):
                out[i] = max(out[i], doubt * away[e * n + i])
    for i in range(n):
        load = share[contact_of[i]] * full
        if not load < 1.0:
            load = 1.0
        out[i] = probability[contact_of[i]] * load * (1.0 - out[i])


def put_base(
    P: Floats, size: int, R: Floats, p: Floats, velocity: Floats, turn: Floats, pose: Floats, twist: Floats
) -> int:
    """Pose (position and quaternion) and twist of a base that carries the IMU at its origin.

    Returns:
        0; 1 if the filter is not finite; 2 if it is turned by more than 120°, which the formula does not cover.
    """
    trace = 0.0
    for i in range(size):
        trace += P[i * size + i]
    if (trace + p[0] + p[1] + p[2]) * 0.0 != 0.0:
        return 1
    t = R[0] + (R[4] + R[8])
    if not t > 0.0:
        return 2
    s = sqrt(t + 1.0)
    h = 0.5 / s
    for i in range(3):
        pose[i] = p[i]
        twist[i] = velocity[0] * R[i] + velocity[1] * R[3 + i] + velocity[2] * R[6 + i]
        twist[3 + i] = turn[i]
    pose[3] = (R[7] - R[5]) * h
    pose[4] = (R[2] - R[6]) * h
    pose[5] = (R[3] - R[1]) * h
    pose[6] = 0.5 * s
    return 0


TICK = NativeCode([begin, settle, grip, put_base], exact=True)
