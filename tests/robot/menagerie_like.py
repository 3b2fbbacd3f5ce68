"""Ten MJCF files as people publish them: one feature each, beside what such files always have."""

from pathlib import Path

LINK = '<inertial pos="0.02 0.01 -0.05" mass="{m}" diaginertia="0.02 0.03 0.015"/>'
LIGHT, HEAVY = LINK.format(m="0.8"), LINK.format(m="4")


def _leg(side: str, y: float, foot: str) -> str:
    return (
        f'<body name="{side}_thigh" pos="0 {y} 0"><joint name="{side}_hip" axis="1 0.3 0" range="-90 90" '
        f'damping="0.4"/>'
        f'{LIGHT}<geom name="{side}_thigh" type="capsule" fromto="0 0 -0.03 0 0 -0.2" size="0.03"/>'
        f'<body name="{side}_shank" pos="0 0 -0.23"><joint name="{side}_knee" axis="0 1 0" range="-150 0" '
        f'armature="0.01"/>{LIGHT}<geom name="{side}_foot" type="capsule" fromto="0 0 -0.05 0 0 -0.22" '
        f'size="0.03" {foot}/></body></body>'
    )


def _legs(foot: str = "") -> str:
    legs = _leg("left", 0.1, foot) + _leg("right", -0.1, foot)
    return (
        f'<body name="trunk" pos="0 0 0.5"><freejoint name="base"/>{HEAVY}'
        f'<geom name="trunk" type="box" size="0.12 0.06 0.05"/>{legs}</body>'
    )


BARE = 'contype="0" conaffinity="0"'
PAIRS = (
    f'<worldbody><geom name="floor" type="plane" size="5 5 0.1"/>{_legs(BARE)}</worldbody>'
    '<contact><pair name="l" geom1="left_foot" geom2="floor" friction="0.9 0.9 0.01 0.001 0.001"/>'
    '<pair name="r" geom1="right_foot" geom2="floor" friction="0.6 0.6 0.01 0.001 0.001"/>'
    '<pair name="knees" geom1="left_foot" geom2="right_foot"/><pair geom1="left_foot" geom2="right_thigh"/>'
    '<exclude name="no" body1="left_thigh" body2="right_thigh"/></contact>'
)
SPRINGS = (
    f'<worldbody><body name="a"><joint name="hinge" axis="0 1 0" stiffness="12" springref="30" damping="0.7"/>{HEAVY}'
    f'<geom size="0.05"/><body name="b" pos="0.2 0 0"><joint name="slide" type="slide" axis="1 0 0" stiffness="150" '
    f'springref="0.05" damping="3" ref="0.1"/>{LIGHT}<geom size="0.04"/></body></body></worldbody>'
)
TENDONS = (
    f'<worldbody><body name="palm">{HEAVY}<geom size="0.04"/><body name="near" pos="0.06 0 0"><joint name="j1" '
    f'axis="0 1 0"/>{LIGHT}<geom size="0.02"/><body name="far" pos="0.06 0 0"><joint name="j2" axis="0 1 0"/>{LIGHT}'
    '<geom size="0.02"/></body></body></body></worldbody>'
    '<tendon><fixed name="curl" stiffness="5" damping="0.3" springlength="0.1 0.4"><joint joint="j1" coef="1"/>'
    '<joint joint="j2" coef="-0.6"/></fixed>'
    '<fixed name="extend" stiffness="2" springlength="0.2"><joint joint="j2" coef="1.5"/></fixed></tendon>'
    '<actuator><motor name="pull" tendon="curl"/><motor joint="j1" ctrlrange="-2 2"/></actuator>'
)
LOOPS = (
    f'<worldbody><body name="crank"><joint name="jc" axis="0 1 0"/>{LIGHT}<geom size="0.02"/>'
    f'<body name="rod" pos="0 0 0.2"><joint name="jr" axis="0 1 0"/>{LIGHT}<geom size="0.02"/></body></body>'
    f'<body name="rocker" pos="0.5 0 0"><joint name="jk" axis="0 1 0"/>{LIGHT}<geom size="0.02"/></body></worldbody>'
    '<equality><connect name="pin" body1="rod" body2="rocker" anchor="0.5 0 0.1"/></equality>'
    '<keyframe><key name="home" qpos="0 0 0"/></keyframe>'
)
BALLS = (
    f'<worldbody><body name="upper" pos="0 0 1"><joint name="shoulder" type="ball" damping="0.5"/>{HEAVY}'
    f'<geom type="capsule" size="0.03 0.1" pos="0.02 0 0"/><body name="lower" pos="0.3 0 0"><joint name="elbow" '
    f'axis="0 1 0"/>{LIGHT}<geom size="0.03"/><body name="hand" pos="0.3 0 0"><joint name="wrist" type="ball"/>{LIGHT}'
    '<geom size="0.32"/></body></body></body></worldbody>'
    '<keyframe><key name="home" qpos="0.8 0 0.6 0 0.5 1 0 0 0"/></keyframe>'
)
REPLICAS = (
    f'<worldbody><body name="hub" pos="0 0 0.4"><freejoint name="base"/>{HEAVY}<geom size="0.06"/>'
    '<replicate count="5" euler="0 0 72"><body name="arm" pos="0.1 0 0" euler="0 20 0"><joint name="j" axis="0 1 0" '
    f'range="-60 60" damping="0.2"/>{LIGHT}<geom type="capsule" fromto="0.05 0 0 0.2 0 0" '
    'size="0.02"/></body></replicate>'
    "</body></worldbody>"
)
KEYFRAMES = (
    f'<worldbody><geom name="floor" type="plane" size="5 5 0.1"/>{_legs()}</worldbody>'
    '<keyframe><key name="crouch" qpos="0 0 0.3 1 0 0 0 0.8 -1.6 0.8 -1.6"/>'
    '<key name="home" qpos="0.1 0 0.45 0.9238795 0 0.3826834 0 0.4 -0.8 0.3 -0.7"/></keyframe>'
)
DEFAULTS = (
    '<default><joint damping="0.3" armature="0.02" axis="0 1 0"/><default class="strong"><joint damping="1.1"/>'
    '<position kp="80" kv="2" forcerange="-40 40"/></default><default class="weak"><joint stiffness="3"/>'
    '<position kp="15" forcerange="-8 8"/></default></default>'
    f'<worldbody><body name="a" childclass="strong"><joint name="j1"/>{HEAVY}<geom size="0.05"/>'
    f'<body name="b" pos="0.3 0 0"><joint name="j2" class="weak"/>{LIGHT}<geom size="0.04"/>'
    f'<body name="c" pos="0.25 0 0"><joint name="j3" '
    f'axis="1 0 0"/>{LIGHT}<geom size="0.04"/></body></body></body></worldbody>'
    '<actuator><position class="strong" joint="j1" gear="2"/><position class="weak" joint="j2"/>'
    '<position class="strong" joint="j3"/></actuator>'
)
_GRIPPER = (
    f'<mujoco model="gripper"><worldbody><body name="palm">{LIGHT}<geom size="0.03"/>'
    '<body name="finger" pos="0.05 0 0">'
    f'<joint name="close" type="slide" axis="0 1 0" stiffness="40" damping="1"/>{LIGHT}<geom size="0.01"/></body>'
    "</body>"
    "</worldbody></mujoco>"
)
_ARM = (
    f'<worldbody><body name="a" pos="0 0 0.2"><joint name="j1" axis="0 0 1" damping="0.2"/>{HEAVY}<geom size="0.05"/>'
    "{}</body></worldbody>"
)


def write_all(folder: Path) -> dict[str, Path]:
    """The files, by the feature that each is for."""
    texts = {
        "pairs and excludes": PAIRS, "springs": SPRINGS, "tendons": TENDONS, "loops": LOOPS, "ball joints": BALLS,
        "replicas": REPLICAS, "keyframes": KEYFRAMES, "defaults": DEFAULTS,
    }  # fmt: skip
    out = {}
    for name, text in texts.items():
        out[name] = folder / f"{name.replace(' ', '_')}.xml"
        out[name].write_text(f"<mujoco>{text}</mujoco>")
    (folder / "parts").mkdir()
    (folder / "parts" / "gripper.xml").write_text(_GRIPPER)
    (folder / "parts" / "shared.xml").write_text("<mujoco><default><joint damping='0.9'/></default></mujoco>")
    (folder / "parts" / "arm.xml").write_text("<mujoco>" + _ARM.format("") + "</mujoco>")
    out["includes"] = folder / "includes.xml"
    out["includes"].write_text(
        '<mujoco>\n<include file="parts/shared.xml"/>\n<include file="parts/arm.xml"/>\n</mujoco>'
    )
    out["attached models"] = folder / "attached.xml"
    mount = '<frame pos="0.3 0 0" euler="0 30 0"><attach model="gripper" body="palm" prefix="g_"/></frame>'
    out["attached models"].write_text(
        f'<mujoco><asset><model name="gripper" file="parts/gripper.xml"/></asset>{_ARM.format(mount)}</mujoco>'
    )
    return out
