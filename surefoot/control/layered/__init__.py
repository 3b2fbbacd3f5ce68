"""The hierarchical controller of Busenhart 1994: information processing, coordination, execution.

Every node is a weighted least-squares problem on the redundant coordinates of a model (`surefoot.redundant`); priority
is a matter of orders of magnitude between weights, and rules are data. The flow is strictly top-down, once a sample.
"""

from surefoot.control.layered.cart_pole import CartPoleSwingUp
from surefoot.control.layered.controller import LayeredController, LayeredSettings
from surefoot.control.layered.rules import Rule, Weight
from surefoot.control.layered.swing_up import (
    CASES,
    ExecutionWeights,
    SwingUp,
    SwingUpCase,
    cart_pole_rules,
    run_case,
)
from surefoot.control.layered.walk import LayeredWalk
from surefoot.control.layered.walk_rules import WalkWeights

__all__ = [
    "CASES",
    "CartPoleSwingUp",
    "ExecutionWeights",
    "LayeredController",
    "LayeredSettings",
    "LayeredWalk",
    "Rule",
    "SwingUp",
    "SwingUpCase",
    "WalkWeights",
    "Weight",
    "cart_pole_rules",
    "run_case",
]
