"""Distances of links to each other and to obstacles, also between samples."""

from surefoot.feasibility.clearance.collisions import check_collisions
from surefoot.feasibility.clearance.shapes import missing_shapes_note, unjudged_notes

__all__ = ["check_collisions", "missing_shapes_note", "unjudged_notes"]
