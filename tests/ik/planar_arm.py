"""Planar arms in closed form: positions of the tip in x and y, angles from one link to the next."""

import numpy as np


def tip(q, lengths=None):
    angles = np.cumsum(q)
    lengths = np.ones(len(angles)) if lengths is None else np.asarray(lengths)
    return np.array([lengths @ np.cos(angles), lengths @ np.sin(angles)])


def jacobian(q, lengths=None):
    angles = np.cumsum(q)
    lengths = np.ones(len(angles)) if lengths is None else np.asarray(lengths)
    links = lengths * np.array([-np.sin(angles), np.cos(angles)])
    return np.cumsum(links[:, ::-1], axis=1)[:, ::-1]


def jacobian_rate(q, rates, lengths=None):
    angles = np.cumsum(q)
    lengths = np.ones(len(angles)) if lengths is None else np.asarray(lengths)
    links = lengths * np.cumsum(rates) * np.array([-np.cos(angles), -np.sin(angles)])
    return np.cumsum(links[:, ::-1], axis=1)[:, ::-1]


def elbow_angles(point, side):
    """Both angles of two links of length 1, elbow on one side (+1 or −1)."""
    bend = side * np.arccos((np.dot(point, point) - 2.0) / 2.0)
    return np.array([np.arctan2(point[1], point[0]) - np.arctan2(np.sin(bend), 1.0 + np.cos(bend)), bend])
