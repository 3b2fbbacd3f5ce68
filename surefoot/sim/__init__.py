"""Simulation by MuJoCo: the judge of our motions, independent of our own dynamics."""
