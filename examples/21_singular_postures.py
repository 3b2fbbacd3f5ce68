"""Recognise a singular posture.

With a straight knee, no joint speed moves a foot towards the hip. `sf.ik.analysis.singularity` reports which direction
is lost, which joints go on moving the leg while the foot rests, and how far other postures are from there.
"""

import numpy as np

import surefoot as sf

robot = sf.load("lola")
bends = np.linspace(0.0, 1.2, 61)
smallest = []
for bend in bends:
    q = robot.q_of({"left_hip_pitch": -0.5 * bend, "left_knee": bend}, base=robot.home[:7])
    report = sf.ik.analysis.singularity(robot, q, "left_foot", root="pelvis")
    smallest.append(float(report.sizes[-1]))
    if bend == 0.0:
        print(f"straight: {report.kind}, rank {report.rank} of {report.full_rank}")
        print(f"lost: {['xyz'[k] for k in np.flatnonzero(np.abs(report.lost[0]) > 0.9)]}")
        print(f"moving: {', '.join(report.moving)}")
print(f"smallest singular value: 0 straight, {smallest[30]:.2f} at 0.6 rad, {smallest[60]:.2f} at 1.2 rad")
