"""Small robot files for tests: text, so that a test can see and change every number."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ARM_MJCF", "ARM_URDF", "write"]

ARM_URDF = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0 0.2" rpy="0.3 0 0"/>
      <mass value="2.5"/>
      <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.025"/>
    </inertial>
    <collision>
      <origin xyz="0 0 0.2"/>
      <geometry><cylinder radius="0.05" length="0.4"/></geometry>
    </collision>
  </link>
  <link name="lower">
    <inertial>
      <origin xyz="0 0 0.15"/>
      <mass value="1.5"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.004"/>
    </inertial>
    <visual><geometry><box size="0.1 0.1 0.3"/></geometry></visual>
  </link>
  <link name="slider">
    <inertial>
      <mass value="0.7"/>
      <inertia ixx="0.003" ixy="0" ixz="0" iyy="0.003" iyz="0" izz="0.003"/>
    </inertial>
  </link>
  <link name="tip"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.1" rpy="0 0.2 0"/>
    <parent link="base"/>
    <child link="upper"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="2.0" effort="50" velocity="3"/>
    <dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="elbow" type="continuous">
    <origin xyz="0 0 0.4"/>
    <parent link="upper"/>
    <child link="lower"/>
    <axis xyz="0 0.6 0.8"/>
  </joint>
  <joint name="rail" type="prismatic">
    <origin xyz="0 0 0.3"/>
    <parent link="lower"/>
    <child link="slider"/>
    <axis xyz="1 0 0"/>
    <limit lower="-0.2" upper="0.3" effort="20" velocity="0.5"/>
  </joint>
  <joint name="tool" type="fixed">
    <origin xyz="0 0.05 0"/>
    <parent link="slider"/>
    <child link="tip"/>
  </joint>
</robot>
"""

ARM_MJCF = """<mujoco model="arm">
  <compiler angle="radian"/>
  <default><joint damping="0.1" armature="0.02"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="upper" pos="0 0 0.1" euler="0 0.2 0">
      <joint name="shoulder" axis="0 1 0" range="-1.5 2" limited="true"/>
      <inertial pos="0.1 0 0.2" mass="2.5" fullinertia="0.02 0.03 0.025 0.001 0 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.05"/>
      <body name="lower" pos="0 0 0.4">
        <joint name="elbow" axis="0 0.6 0.8" pos="0 0.01 0"/>
        <joint name="rail" type="slide" axis="1 0 0" range="-0.2 0.3" limited="true"/>
        <geom name="box" type="box" size="0.05 0.05 0.15" mass="1.5"/>
        <site name="tip" pos="0 0 0.15"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="shoulder" gear="10" ctrlrange="-5 5" ctrllimited="true"/></actuator>
</mujoco>
"""


def write(folder: Path, name: str, text: str | bytes) -> Path:
    """A file in a folder."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path
