"""Ankle or hip?

A body on a fixed foot is pushed ahead. A small push is met by the ankle. A larger one brings the centre of pressure
near the toes; then the hip takes over, bends, and keeps the centre of mass where it is until the push is over.
"""

import numpy as np

from surefoot.reduced.strategies import ankle_hip

for force in (4.0, 8.0):
    run = ankle_hip(lambda t, force=force: force * float(np.interp(t, (1.0, 1.3, 3.0, 3.3), (0, 1, 1, 0))), 8.0)
    bend = np.rad2deg(run.angles[:, 1].max())
    print(f"{force:.0f} N: CoP up to {1e3 * run.pressure.max():.0f} mm, hip up to {bend:.0f}°")
    for strategy, time in run.switches.items():
        print(f"  {time:.2f} s {strategy}")
    print(f"  at the end {run.strategy[-1]}, CoM back to 1 mm: {abs(run.com[-1, 0]) < 1e-3}")
