"""Robots by name: those that the package builds by code, and every robot of `example-robot-data`."""

from surefoot.robot.zoo.catalogue import describe, load, names

__all__ = ["describe", "load", "names"]
