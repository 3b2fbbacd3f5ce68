"""Problems whose irreducible conflicts and relaxations are known."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse

from surefoot.solvers import Group


def planted(rng, groups: int, rows: int, n: int, members: int, density: float = 1.0, reach: float = 20.0):
    """A base of wide rows around a point, and one conflict: rows that add up to nothing, with ends that add up to −1.

    Returns the groups and the names of the conflict; the least relaxation of each member alone is 1, as all rows of the
    conflict have the same multiplier. `reach` is how far rows of the base are from the point, in units of x.
    """
    x = rng.normal(size=n)
    A = rng.normal(size=(groups, rows, n))
    if density < 1.0:
        A *= rng.random(A.shape) < density
        A[..., rng.integers(0, n, size=groups)] += 1.0
    length = np.linalg.norm(A, axis=-1)
    room = length * rng.uniform(reach, 2.0 * reach, size=(2, groups, rows))
    lower, upper = A @ x - room[0], A @ x + room[1]
    side = rng.integers(0, 3, size=(groups, rows))
    lower[side == 0], upper[side == 1] = -np.inf, np.inf
    chosen = np.sort(rng.choice(groups, members, replace=False))
    a = rng.normal(size=(members, n))
    a[-1] = -a[:-1].sum(axis=0)
    A[chosen, 0], lower[chosen, 0] = a, -np.inf
    upper[chosen, 0] = a @ x - 1.0 / members
    names = [f"g{i:04d}" for i in range(groups)]
    found = [Group(names[i], A[i], lower[i], upper[i], unit="N") for i in range(groups)]
    return found, tuple(names[i] for i in chosen)


def cycle(n: int, gap: float = 1.0):
    """x1 ≤ x2 ≤ … ≤ xn ≤ x1 − gap, each its own group."""
    steps = np.eye(n) - np.roll(np.eye(n), 1, axis=1)
    return [Group(f"c{i:03d}", steps[i], -np.inf, -gap if i == n - 1 else 0.0, unit="m") for i in range(n)]


def crowded(seed: int, groups: int, rows: int, n: int, share: float = 0.2, entries: int | None = None):
    """Narrow rows around a point, of which a share is moved away: a great many conflicts, none of which is alone."""
    rng = np.random.default_rng(seed)
    x, out = rng.normal(size=n), []
    for k in range(groups):
        A = rng.normal(size=(rows, n))
        if entries is not None:
            for row in A:
                row[rng.permutation(n)[entries:]] = 0.0
        middle, room = A @ x, rng.uniform(0.01, 0.5, size=rows)
        if k % round(1.0 / share) == 0:
            middle = middle + 2.0 * rng.normal(size=rows)
        fixed = k % 7 == 3
        out.append(Group(f"g{k:03d}", sparse.csr_array(A), middle - room, middle + room, may_relax=not fixed))
    return out


class Timeline:
    """Unknowns over time, several at each instant, and rows of a few of them."""

    def __init__(self, count: int, kinds: int, parts: int) -> None:
        self.count, self.kinds, self.parts = count, kinds, parts

    def at(self, kind: int, instant: int, part: int) -> int:
        return (kind * self.count + instant) * self.parts + part

    def rows(self, *terms: dict[int, float]) -> sparse.csr_array:
        row = np.repeat(np.arange(len(terms)), [len(term) for term in terms])
        column = [at for term in terms for at in term]
        value = [entry for term in terms for entry in term.values()]
        return sparse.csr_array((value, (row, column)), shape=(len(terms), self.count * self.kinds * self.parts))


def swing(seed: int, count: int = 80, joints: int = 4, may_relax: bool = True, apart: bool = True):
    """Joints from rest to rest with limits of speed and torque, one of them farther than it can reach.

    `apart`: the motion of each joint from instant to instant is a group, or else of all joints together.
    """
    rng, dt, line = np.random.default_rng(seed), 0.02, Timeline(count, 3, joints)
    q, v, a = ([[line.at(kind, k, j) for j in range(joints)] for k in range(count)] for kind in range(3))
    torque, speed = rng.uniform(5.0, 15.0, joints), rng.uniform(1.0, 2.0, joints)
    groups = []
    for k in range(count - 1):
        steps = []
        for j in range(joints):
            steps.append({q[k + 1][j]: 1.0, q[k][j]: -1.0, v[k][j]: -dt, a[k][j]: -0.5 * dt * dt})
            steps.append({v[k + 1][j]: 1.0, v[k][j]: -1.0, a[k][j]: -dt})
        parts = [steps[2 * j : 2 * j + 2] for j in range(joints)] if apart else [steps]
        for j, part in enumerate(parts):
            groups.append(Group(f"dynamics {j} {k:03d}", line.rows(*part), 0.0, 0.0, may_relax=may_relax))
    for k in range(count):
        M = rng.normal(size=(joints, joints)) * 0.2 + np.eye(joints)
        loads = [dict(zip(a[k], row, strict=True)) for row in M]
        groups.append(Group(f"torque {k:03d}", line.rows(*loads), -torque, torque, unit="Nm"))
        groups.append(Group(f"speed {k:03d}", line.rows(*[{at: 1.0} for at in v[k]]), -speed, speed, unit="rad/s"))
    begin = rng.normal(size=joints)
    reach = speed * ((count - 1) * dt - speed / torque)
    end = begin + np.where(np.arange(joints) == rng.integers(joints), 1.1, 0.9) * reach
    first = np.append(begin, np.zeros(joints))
    groups.append(Group("start", line.rows(*[{at: 1.0} for at in q[0] + v[0]]), first, first, unit="rad"))
    groups.append(Group("goal", line.rows(*[{at: 1.0} for at in q[-1]]), end - 1e-3, end + 1e-3, unit="rad"))
    groups.append(Group("stop", line.rows(*[{at: 1.0} for at in v[-1]]), -1e-3, 1e-3, unit="rad/s"))
    return groups


def tumble(count: int = 160, goal: float = 1.0):
    """An inverted pendulum with a bounded centre of pressure that is to stop too far away: errors grow by e^(ω T)."""
    dt, stiffness, line = 0.02, 9.81 / 0.8, Timeline(count, 3, 1)
    c, v, p = ([line.at(kind, k, 0) for k in range(count)] for kind in range(3))
    groups = []
    for k in range(count - 1):
        moves = {c[k + 1]: 1.0, c[k]: -1.0, v[k]: -dt}
        turns = {v[k + 1]: 1.0, v[k]: -1.0, c[k]: -dt * stiffness, p[k]: dt * stiffness}
        groups.append(Group(f"pendulum {k:03d}", line.rows(moves, turns), 0.0, 0.0, may_relax=False))
    groups += [Group(f"pressure {k:03d}", line.rows({p[k]: 1.0}), -0.1, 0.1, unit="m") for k in range(count)]
    groups.append(Group("start", line.rows({c[0]: 1.0}, {v[0]: 1.0}), 0.0, 0.0, unit="m"))
    groups.append(Group("stop", line.rows({c[-1]: 1.0}, {v[-1]: 1.0}), [goal, 0.0], [goal, 0.0], unit="m"))
    return groups
