"""Check a URDF file.

Files are read with suspicion. A number that cannot be read is never replaced by a default: the file is refused, and
the error has the line, the reason and a next step. `surefoot check FILE` also lists remarks about files that load.
"""

import tempfile
from pathlib import Path

import surefoot as sf

URDF = """<robot name="lever">
  <link name="stand"/>
  <link name="arm">
    <inertial><mass value="{mass}"/><inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="stand"/><child link="{child}"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="5"/>
  </joint>
</robot>
"""
sound = {"mass": "2.0", "child": "arm"}
defects = {"a comma": {"mass": "2,0"}, "a negative mass": {"mass": "-2"}, "an unknown link": {"child": "arms"}}

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "lever.urdf"
    file.write_text(URDF.format(**sound))
    robot = sf.load(file)
    print(f"sound: {robot.name} with {robot.nq} joint and {robot.mass:.0f} kg")
    for name, defect in defects.items():
        file.write_text(URDF.format(**sound | defect))
        try:
            sf.load(file)
        except sf.SurefootError as error:
            print(f"{name}: {str(error).replace(str(file), file.name).splitlines()[0]}")
