"""Centres of pressure and the ZMP of measured wrenches; a loop for `NativeCode`."""

from __future__ import annotations

from surefoot.codegen.loops import Floats, NativeCode


def find_pressures(k: int, wrenches: Floats, T: Floats, least: float, nothing: float, out: Floats) -> None:
    """Points (k + 1, 2) [m] without moment in their plane, as `contact.zero_moment_point` has them.

    Those of wrenches (k, 6) in the planes of their contact frames T (k, 4, 4), and last that of their sum in z = 0;
    `nothing` for a normal force below `least` > 0.
    """
    load = 0.0
    about_x = 0.0
    about_y = 0.0
    for i in range(k):
        w = 6 * i
        t = 16 * i
        force = wrenches[w + 2]
        out[2 * i] = -wrenches[w + 4] / force if force >= least else nothing
        out[2 * i + 1] = wrenches[w + 3] / force if force >= least else nothing
        fx = T[t] * wrenches[w] + T[t + 1] * wrenches[w + 1] + T[t + 2] * force
        fy = T[t + 4] * wrenches[w] + T[t + 5] * wrenches[w + 1] + T[t + 6] * force
        fz = T[t + 8] * wrenches[w] + T[t + 9] * wrenches[w + 1] + T[t + 10] * force
        mx = T[t] * wrenches[w + 3] + T[t + 1] * wrenches[w + 4] + T[t + 2] * wrenches[w + 5]
        my = T[t + 4] * wrenches[w + 3] + T[t + 5] * wrenches[w + 4] + T[t + 6] * wrenches[w + 5]
        load += fz
        about_x += mx + T[t + 7] * fz - T[t + 11] * fy
        about_y += my + T[t + 11] * fx - T[t + 3] * fz
    out[2 * k] = -about_y / load if load >= least else nothing
    out[2 * k + 1] = about_x / load if load >= least else nothing


PRESSURES = NativeCode([find_pressures])
