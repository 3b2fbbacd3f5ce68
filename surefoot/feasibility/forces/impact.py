"""Impacts: how hard contacts close."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.contact import outer_corners
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts import surfaces_at_touch, touch_frames, touch_jacobians
from surefoot.feasibility.series import Series, skipped
from surefoot.feasibility.touch import Touch
from surefoot.kinematics import contact_frame

Rows = NDArray[np.int64]
_BEFORE, _AFTER = 0.05, 0.01  # [s] round a touch-down in which the surface is looked at: detection comes after the fact
_LITTLE = 1e-13  # of the trace of M
_NEAR = 3.0  # × `Tolerances.touch_height`: higher surfaces do not touch yet


def check_impact(case: Case, touch: Touch) -> list[Series]:
    """`impact`: the impulse of each touch-down, against that of the highest speed that passes."""
    active = touch.active
    sample, contact = np.nonzero(active[1:] & ~active[:-1])
    sample = sample + 1
    if not len(sample):
        return [skipped("impact", "no contact closes during the motion")]
    speed = _closing_speeds(case, touch, sample, contact)
    mass = effective_masses(case, touch, sample, contact)
    rows = np.arange(len(sample))
    value, limit = (np.full((len(sample), len(case.contact_names)), np.nan) for _ in range(2))
    value[rows, contact], limit[rows, contact] = mass * speed, mass * case.tolerances.impact
    fastest = [float(speed[contact == k].max(initial=0.0)) for k in range(len(case.contact_names))]
    series = Series(
        "impact", "N s", case.time[sample], case.contact_names, value, -np.inf, limit, 0.0,
        float(np.nanmax(limit)) or 1.0, tuple(_body(case, name) for name in case.contact_names),
        note=f"impulse of a touch-down without rebound; speeds up to {case.tolerances.impact:.3g} m/s pass",
        texts=tuple(
            f"`{name}` touches down at up to {fast:.2g} m/s: impulse {{value}}, limit {{limit}}, at {{time}}"
            for name, fast in zip(case.contact_names, fastest, strict=True)
        ),
        next_step="lower the surface more slowly",
    )  # fmt: skip
    return [series]


def effective_masses(case: Case, touch: Touch, sample: Rows, contact: Rows) -> Array:
    """(e,): impulse along the normal per closing speed, of contacts that close [kg].

        impulse = (J M⁻¹ Jᵀ)⁻¹ J (v⁺ − v⁻),  J (v⁺ + e v⁻) = 0        [audit.impact]

    Nenchev & Konno 2019, section 4 (inelastic impact, e = 0). J holds the normal of the surface that closes and all
    that the contacts tie which held before, and hold on.
    """
    frames, surfaces = touch_frames(case, touch), surfaces_at_touch(case)
    J = touch_jacobians(case, touch, frames, sample)
    e = len(J)
    tied = np.array([surface.tied for surface in surfaces])
    holds = (touch.active[sample] & touch.active[sample - 1])[:, :, None] & tied
    M = _with_mass(case.kernels.crba(case.q[sample]))
    out = np.empty(e)
    for i, k in enumerate(contact):
        rows = np.vstack([J[i, k, 2], J[i][holds[i]]])
        inverse = rows @ np.linalg.solve(M[i], rows.T)
        out[i] = np.linalg.pinv(inverse, rcond=1e-9, hermitian=True)[0, 0]
    return out


def _with_mass(M: Array) -> Array:
    """(e, nv, nv): mass matrices with a little mass on every joint.

    Links without mass at the end of a chain, as files of hands have them, leave M singular; they push on nothing.
    """
    return M + _LITTLE * np.trace(M, axis1=1, axis2=2)[:, None, None] * np.eye(M.shape[1])


def _closing_speeds(case: Case, touch: Touch, sample: Rows, contact: Rows) -> Array:
    """(e,): largest speed of a corner towards the ground, shortly before a surface touches."""
    out, near = np.zeros(len(sample)), _NEAR * case.tolerances.touch_height
    first = np.searchsorted(case.time, case.time[sample] - _BEFORE)
    end = np.searchsorted(case.time, case.time[sample] + _AFTER, side="right")
    for i, k in enumerate(contact):
        rows = np.arange(min(first[i], sample[i] - 1), end[i])
        height = touch.height[rows, k]
        rows = rows[~(height > near) | (rows == sample[i] - 1)]
        out[i] = max(float(_towards_ground(case, touch, rows, int(k)).max()), 0.0)
    return out


def _towards_ground(case: Case, touch: Touch, rows: Rows, contact: int) -> Array:
    """(m, corners): speeds of the corners of a surface against the normal of the ground."""
    surface = case.robot.contacts[case.contact_names[contact]]
    normal = np.einsum("nji,nj->ni", touch.placements[rows, contact, :3, :3], touch.normals[rows, contact])
    linear, angular = touch.twists[rows, contact, None, :3], touch.twists[rows, contact, None, 3:]
    return -np.einsum("nki,ni->nk", linear + np.cross(angular, outer_corners(surface)), normal)


def _body(case: Case, name: str) -> frozenset[int]:
    return frozenset({contact_frame(case.robot, name).body})
