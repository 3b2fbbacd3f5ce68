"""Plan with velocities: the double integrator.

A mass under a bounded force has the state (x, v). The fastest way to rest at x = 0 is full force one way, then the
other (bang-bang); the switching curve is a parabola. Closed form, simulation of the switching law and the general time
parametrisation along a path agree. States too fast to stop before a wall are lost although they touch nothing yet.
"""

import numpy as np

import surefoot as sf
from surefoot.motion.timing import PathLimits, path_through, time_path
from surefoot.solvers.ode import RK4, Event, integrate


def least_time(x, v):
    """Time to rest at 0 under |a| ≤ 1."""
    side = np.where(x + 0.5 * v * np.abs(v) > 0.0, 1.0, -1.0)
    return side * v + 2.0 * np.sqrt(0.5 * v * v + side * x)


def switching_law(_, state):
    """Brake on the parabola x = −v|v|/2, else accelerate towards it."""
    x, v = state
    return np.array([v, -np.tanh(500.0 * (x + 0.5 * v * abs(v)))])


for start in ([1.0, 0.0], [0.5, 1.0], [-1.0, 0.8]):
    near = Event(lambda _, state: float(np.hypot(*state) - 0.02), terminal=True)
    run = integrate(switching_law, start, 0.0, 9.0, method=RK4, step=0.002, events=[near])
    print(f"from x = {start[0]:4.1f}, v = {start[1]:3.1f}: {least_time(*start):.2f} s; simulated {run.t[-1]:.1f} s")

mass = sf.load("pendulum")  # one coordinate is all that is needed
timing = time_path(path_through(mass, [[1.0], [0.0]]), PathLimits(velocity=9.0, acceleration=1.0))
print(f"time parametrisation from rest at 1: {timing.duration:.2f} s, closed form {least_time(1.0, 0.0):.2f} s")

x, v = np.meshgrid(np.linspace(-2.0, 2.0, 161), np.linspace(-2.0, 2.0, 161))
lost = (v > 0.0) & (x + 0.5 * v * v > 1.5) | (x > 1.5)
times = least_time(x, v)
print(f"with a wall at 1.5, {np.mean(lost & (x < 1.5)):.1%} of the states are free of collision and lost")
