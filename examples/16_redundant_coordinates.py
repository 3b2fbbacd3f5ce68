"""Solve motion as least squares.

In the formalism of `redundant`, every body and every hinge has coordinates of its own. Laws and wishes are rows with
weights, and one reduction finds the best fit. Which question is asked depends on the weights alone: forward dynamics
knows the forces, inverse dynamics wishes accelerations.
"""

import numpy as np

from surefoot.redundant import forward_dynamics, inverse_dynamics, load_model, pattern, posed, simulate
from surefoot.solvers import DyadicPlan

model = load_model("cart-pole")
state = posed(model, {"tilt": 0.5})
forward = forward_dynamics(model, state, [3.0])
print("3 N at the cart:", ", ".join(f"{value:.3f}" for value in forward.freedoms), "(tilt [rad/s²], travel [m/s²])")

inverse = inverse_dynamics(model, state, forward.freedoms)
print(f"the force for that motion: {inverse.u[0]:.3f} N")

plan = DyadicPlan(pattern(model, "dynamics"), order="greedy")
print(f"planned for this model: {len(plan.steps)} steps, {sum(plan.counts)} operations")

run = simulate(model, state, [0.0], duration=1.0, dt=0.005)
print(f"one second without force: energy constant to 1e-6 J: {np.ptp(run.energy) < 1e-6}")
