"""See obstacles as a robot without size would.

A robot that only translates hits a convex obstacle O where its reference point lies in the Minkowski sum of O and the
mirrored robot. With rotation there is one such polygon for each angle: obstacles of configuration space, in three
dimensions. Wimmer 2016 explains motion planning with them; here a test of separating axes confirms them.
"""

import numpy as np

from surefoot.geometry import convex_hull, distance_inside

robot = np.array([[-0.4, -0.1], [0.4, -0.1], [0.4, 0.1], [-0.4, 0.1]])  # about its reference point
obstacle = np.array([[0.0, 0.0], [0.7, 0.1], [0.5, 0.6], [-0.1, 0.5]])


def turned(angle):
    """The robot at an angle."""
    c, s = np.cos(angle), np.sin(angle)
    return robot @ [[c, s], [-s, c]]


def configuration_obstacle(angle):
    """O ⊕ −R: of convex polygons, the hull of all differences of corners."""
    return convex_hull((obstacle[:, None] - turned(angle)).reshape(-1, 2))


def overlap(places, angle):
    """Whether the robot at places (n, 2) meets the obstacle: no edge normal of either separates them."""
    body, meets = turned(angle), np.ones(len(places), dtype=bool)
    for polygon in (body, obstacle):
        for edge in np.roll(polygon, -1, axis=0) - polygon:
            normal = np.array([edge[1], -edge[0]])
            a, b, shift = body @ normal, obstacle @ normal, places @ normal
            meets &= (shift + a.max() >= b.min()) & (shift + a.min() <= b.max())
    return meets


x, y = np.meshgrid(np.linspace(-1.0, 1.6, 161), np.linspace(-0.8, 1.4, 136))
places = np.column_stack([x.ravel(), y.ravel()])
slices = {}
for angle in np.deg2rad([0.0, 45.0, 90.0]):
    inside = distance_inside(places, configuration_obstacle(angle)) >= 0.0
    slices[angle] = inside.reshape(x.shape)
    same = np.mean(inside == overlap(places, angle))
    corners, area = len(configuration_obstacle(angle)), inside.mean() * 2.6 * 2.2
    print(f"at {np.rad2deg(angle):2.0f}°: {corners} corners, {area:.2f} m², right at {same:.1%} of the places")
