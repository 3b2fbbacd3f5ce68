"""Strategies against pushes, on small models: ankle and hip, with the transitions between them."""

from surefoot.reduced.strategies.ankle_hip import AnkleHip, AnkleHipRun, TwoLinkBody, ankle_hip

__all__ = ["AnkleHip", "AnkleHipRun", "TwoLinkBody", "ankle_hip"]
