"""Exchange states with other programs.

Programs disagree on the order of quaternions, on the frame of the base velocity and on the order of joints.
`sf.to_layout` writes a state as another program wants it, and `sf.from_layout` reads it back.
"""

import numpy as np

import surefoot as sf

robot = sf.load("anymal")
q, v = np.array(robot.home), np.zeros(robot.nv)
q[3:7] = [0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4)]  # x, y, z, w: turned to the left by 90°
v[0] = 1.0  # 1 m/s ahead, in the frame of the base

for layout in ("mujoco", "drake"):
    state = sf.to_layout(robot, layout, q, v)
    for name, values in state.items():
        start = ", ".join(f"{value + 0.0:.2f}" for value in np.round(values[:7], 2))
        print(f"{layout} {name}: {start} …")
    again_q, again_v = sf.from_layout(robot, layout, state)[:2]
    print(f"  read back: {np.allclose(again_q, q, atol=1e-12) and np.allclose(again_v, v, atol=1e-12)}")
