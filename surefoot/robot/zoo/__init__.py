"""Robots by name: those that the package builds by code, and every robot of `example-robot-data`."""

from surefoot.robot.zoo.catalogue import ZooFacts, describe, facts, load, names

__all__ = ["ZooFacts", "describe", "facts", "load", "names"]
