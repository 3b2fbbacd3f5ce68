"""MJCF files for tests, and MuJoCo as the judge of what was read from them."""

from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin

from surefoot.robot.model.robot import Robot

INERTIAL = '<inertial pos="0.1 0 0.02" mass="2" diaginertia="0.1 0.2 0.15"/>'


def write(folder: Path, body: str, name: str = "robot.xml", head: str = "") -> Path:
    path = folder / name
    path.write_text(f'<mujoco model="test">\n{head}\n<worldbody>\n{body}\n</worldbody>\n</mujoco>')
    return path


def whole(folder: Path, inside: str, name: str = "robot.xml") -> Path:
    path = folder / name
    path.write_text(f"<mujoco>\n{inside}\n</mujoco>")
    return path


def our_q(model: mujoco.MjModel, qpos: np.ndarray) -> np.ndarray:
    """MuJoCo's configuration in our layout: only the quaternions change."""
    q = np.array(qpos)
    for k in range(model.njnt):
        start = model.jnt_qposadr[k] + {0: 3, 1: 0}.get(int(model.jnt_type[k]), -99)
        if start >= 0:
            q[start : start + 4] = np.roll(qpos[start : start + 4], -1)
    return q


def random_qpos(model: mujoco.MjModel, rng: np.random.Generator) -> np.ndarray:
    qpos = rng.uniform(-2.0, 2.0, model.nq)
    for k in range(model.njnt):
        start = model.jnt_qposadr[k] + {0: 3, 1: 0}.get(int(model.jnt_type[k]), -99)
        if start >= 0:
            qpos[start : start + 4] /= np.linalg.norm(qpos[start : start + 4])
    return qpos


def velocity_map(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """MuJoCo's velocity = map · ours: the linear velocity of a free joint is in world there, in the body here."""
    out = np.eye(model.nv)
    for k in np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        row = model.jnt_dofadr[k]
        out[row : row + 3, row : row + 3] = data.xmat[model.jnt_bodyid[k]].reshape(3, 3)
    return out


def assert_same_as_mujoco(path: Path, robot: Robot, rng: np.random.Generator) -> None:
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    assert robot.nq == model.nq
    assert robot.nv == model.nv
    assert list(robot.joint_names) == [model.joint(k).name or f"joint_{k}" for k in range(model.njnt)]
    for _ in range(3):
        data.qpos[:] = random_qpos(model, rng)
        mujoco.mj_forward(model, data)
        q = our_q(model, data.qpos)
        frames = robot.placements(q)
        for i in range(1, model.nbody):
            name = model.body(i).name or f"body_{i}"
            assert name in robot.link_names
            np.testing.assert_allclose(frames[name][:3, 3], data.xpos[i], atol=1e-9)
            np.testing.assert_allclose(frames[name][:3, :3], data.xmat[i].reshape(3, 3), atol=1e-9)
        for i in range(model.nsite):
            np.testing.assert_allclose(frames[model.site(i).name][:3, 3], data.site_xpos[i], atol=1e-9)
        assert_same_masses(robot, model, data, q)


def assert_same_masses(robot: Robot, model: mujoco.MjModel, data: mujoco.MjData, q: np.ndarray) -> None:
    moving = model.body_weldid > 0
    np.testing.assert_allclose(robot.mass, model.body_mass[moving].sum(), rtol=1e-12)
    com = (model.body_mass[moving, None] * data.xipos[moving]).sum(axis=0) / model.body_mass[moving].sum()
    pin_data = robot.model.createData()
    np.testing.assert_allclose(pin.centerOfMass(robot.model, pin_data, q), com, atol=1e-9)
    theirs = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, theirs)
    J = velocity_map(model, data)
    expected = J.T @ theirs @ J
    ours = pin.crba(robot.model, pin_data, q)
    ours = np.triu(ours) + np.triu(ours, 1).T
    np.testing.assert_allclose(ours, expected, atol=1e-8 * np.abs(expected).max())


DEFAULTS = """<compiler angle="degree"/>
<default><geom density="800"/><joint damping="0.1" armature="0.02"/>
<default class="stiff"><joint armature="0.3" range="-20 30"/></default>
<default class="heavy"><geom density="3000"/></default></default>"""


TWO = (
    f'<body name="a" pos="0 0 1"><joint name="ja" axis="0 1 0" ref="20"/>{INERTIAL}'
    '<site name="sa" pos="0 0.3 0"/></body>'
    f'<body name="b" pos="1 0 1"><joint name="jb" axis="0 1 0" ref="-35"/>{INERTIAL}'
    '<site name="sb" pos="0 0.1 0.2"/></body>'
)
