"""Contact surfaces for tests, and oracles that know nothing of faces."""

import numpy as np
from scipy.optimize import linprog, nnls

from surefoot.robot.model.contacts import ContactSurface


def rectangle(lx=0.1, ly=0.05, centre=(0.0, 0.0, 0.0), turn=0.0, friction=0.6, kind="rectangle"):
    """A rectangular sole with half lengths lx and ly."""
    c, s = np.cos(turn), np.sin(turn)
    corners = np.array([[lx, ly, 0.0], [-lx, ly, 0.0], [-lx, -ly, 0.0], [lx, -ly, 0.0]])
    turned = corners @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) + np.array(centre)
    return ContactSurface("sole", "foot", kind, corners=turned, friction=friction)


def polygon(k=5, radius=0.1, friction=0.6, seed=0):
    """A sole with k corners on an ellipse."""
    angle = np.sort(np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, k))
    corners = np.column_stack([radius * np.cos(angle), 0.5 * radius * np.sin(angle), np.zeros(k)])
    return ContactSurface("sole", "foot", "polygon", corners=corners, friction=friction)


def line(half=0.1, friction=0.6):
    return ContactSurface("edge", "foot", "line", corners=[[0.0, -half, 0.0], [0.0, half, 0.0]], friction=friction)


def point(friction=0.6):
    return ContactSurface("tip", "foot", "point", friction=friction)


def finger(friction=0.6, torsion=0.02):
    return ContactSurface("tip", "finger", "soft_finger", friction=friction, torsional_friction=torsion)


def cylinder(friction=0.6):
    return ContactSurface("hand", "wrist", "cylinder", friction=friction)


EVERY_KIND = {
    "point": point(),
    "line": line(),
    "cylinder": cylinder(),
    "rectangle": rectangle(),
    "polygon": polygon(),
    "soft_finger": finger(),
}


def is_spanned(spans, wrench, tolerance=1e-9):
    """Whether a wrench is a sum of spans with shares ≥ 0, by least squares."""
    weights = np.array([1.0, 1.0, 1.0, 10.0, 10.0, 10.0])
    return nnls(spans * weights[:, None], wrench * weights)[1] <= tolerance * max(1.0, np.linalg.norm(wrench))


def least_violation(G, wrench, length=1.0):
    """The least weighted length of wrench − G λ, by the active-set method of scipy."""
    weights = np.r_[np.ones(3), np.full(3, 1.0 / length)]
    return nnls(G * weights[:, None], wrench * weights)[1] if G.shape[1] else float(np.linalg.norm(wrench * weights))


def extreme(cost, G, wrench):
    """The least cost · λ with G λ = wrench, λ ≥ 0; None if there is none; −inf if it has no least."""
    found = linprog(cost, A_eq=G, b_eq=wrench)
    return {0: found.fun, 3: -np.inf}.get(found.status)
