"""Park a car: motion in a direction in which it cannot drive.

A car moves along its heading only, so two coordinates of velocity reach three coordinates of position. Driving forward
left, forward right, back left and back right shifts it sideways by 2 κ ε², the Lie bracket of both ways to drive:
nothing in one step can do that. Shorter moves need more of them for the same shift.
"""

import numpy as np

from surefoot.solvers.ode import RK4, integrate

CURVATURE = 0.8  # 1/m, of the tightest turn


def drive(state, length, side):
    """The state (x, y, heading) after an arc, exact; side 1 is left, −1 right, length < 0 backwards."""
    x, y, heading = state
    k = side * CURVATURE
    end = heading + k * length
    return np.array([x + (np.sin(end) - np.sin(heading)) / k, y - (np.cos(end) - np.cos(heading)) / k, end])


def bracket(state, length):
    """The states after each move: left and right forward, left and right back."""
    states = [state]
    for way, side in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        states.append(drive(states[-1], way * length, side))
    return states[1:]


def velocity(_, state):
    """Of a full turn to the left, at 1 m/s."""
    return np.array([np.cos(state[2]), np.sin(state[2]), CURVATURE])


arc = integrate(velocity, np.zeros(3), 0.0, 1.0, method=RK4, step=0.01)
print(
    f"an arc in closed form and integrated: the same, {np.allclose(arc.x[-1], drive(np.zeros(3), 1.0, 1), atol=1e-9)}"
)

for length in (0.4, 0.2, 0.1):
    shift = bracket(np.zeros(3), length)[-1]
    print(f"moves of {length:.1f} m: sideways {shift[1]:+.4f} m, 2 κ ε² = {2 * CURVATURE * length**2:.4f} m")

length, track = 0.3, [np.zeros(3)]
while track[-1][1] < 1.0:
    track += bracket(track[-1], length)
track = np.array(track)
way = length * np.arange(len(track))
print(
    f"1 m sideways takes {len(track) // 4} rounds, {way[-1]:.0f} m of driving, and ends {track[-1, 0]:+.2f} m along x"
)
