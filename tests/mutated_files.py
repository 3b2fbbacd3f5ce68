"""Damaged files of every kind that users give us: `python -m tests.mutated_files --count 20000 --seed 1`.

Each file must be read, or refused with a named error; robots that load are checked, scenarios built and run for a
moment, motions audited. Anything else is a fault: another exception, a warning, a crash of the process, over `LIMIT_S`.
File number i of a seed is always the same one; the faulty ones are kept.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import pickle
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pyarrow as pa
import pyarrow.parquet as pq

from surefoot.errors import SurefootError
from surefoot.feasibility import audit
from surefoot.motion import Trajectory
from surefoot.motion.reading import link_placements, read_motion
from surefoot.motion.reading.joint_order import joint_orders
from surefoot.robot import Robot, inspect_robot, load, zoo
from surefoot.scenario import names, read_scenario, scenario_text
from surefoot.scenario.build import build_simulation
from surefoot.scenario.catalogue import overridden
from surefoot.scenario.schema import MotionTable
from tests.mutations import BINARY, TEXT, XML
from tests.robot.menagerie_like import write_all
from tests.robot.sample_files import ARM_MJCF, ARM_URDF
from tests.robot.sdf.test_read_sdf import INERTIAL, SDF

OTHER_KEYS = (
    "", "qpos", "x" * 300, "größe", "q", "time", "fps", "dof", "qvel", "tau", "root_pos", "trans", "mocap_framerate",
    "joint_names", "dof_names", "body_names", "joint_pos", "body_pos_w", "body_quat_w", "root_quat", "dt", "push.force",
)  # fmt: skip
LIMIT_S = 20.0  # CPU time for one file
_MEMORY = 12 << 30  # address space of a process [bytes]
_BATCH = 250  # files for one process
_SMALL_MOTION = {"duration": 0.2, "hold": 0.0, "nodes": 5, "cycles": 1}


def _robot_file(path: Path, index: int) -> None:
    (inspect_robot if index % 4 == 0 else load)(str(path))


def _scenario(path: Path, index: int) -> None:
    """Read it; build and run one in two for a moment, with plans that are small."""
    scenario, small = read_scenario(path), {"simulation.duration": 0.05}
    if scenario.planner is not None:
        small |= {"planner.states": 20_000, "planner.stances": 20, "planner.evaluations": 1000}
    if scenario.motion is not None:
        own = MotionTable.KEYS[scenario.motion.kind]
        small |= {f"motion.{key}": value for key, value in _SMALL_MOTION.items() if key in own}
        if "solver" in own:  # optimal control, whose cost cannot be bounded by a file
            return
    if index % 12 == 3:
        build_simulation(overridden(scenario, [f"{key}={value}" for key, value in small.items()])).run()


def _side(path: Path, index: int) -> None:
    (path.parent / path.name.replace(".surefoot.toml", ".urdf")).write_bytes(_solo().read_bytes())
    _robot_file(path.parent / path.name.replace(".surefoot.toml", ".urdf"), index)


def _motion(path: Path, index: int) -> None:
    given = read_motion(path, _robot(), rate=30.0 if path.suffix == ".npy" else None)
    if index % 10 == 5:
        audit(given.trajectory, _robot(), replay=False)


def _solo() -> Path:
    return Path(zoo.load("solo12").source)


@lru_cache(maxsize=1)
def samples() -> dict[str, list[tuple[str, bytes]]]:
    """Name and content of good files, by kind."""
    real = [Path(zoo.load(name).source).read_bytes() for name in ("solo12", "double_pendulum", "hyq")]
    loop = '<joint name="loop" type="revolute"><parent>base</parent><child>hand</child></joint>'
    with tempfile.TemporaryDirectory() as folder:  # without those that need other files beside them
        alone = {k: v for k, v in write_all(Path(folder)).items() if k not in ("includes", "attached models")}
        mjcf = [path.read_bytes() for path in alone.values()]
    return {
        "URDF": [("a.urdf", ARM_URDF.encode()), *(("r.urdf", data) for data in real)],
        "MJCF": [("a.xml", ARM_MJCF.encode()), *(("m.xml", data) for data in mjcf)],
        "SDF": [("m.sdf", SDF.format(i=INERTIAL, more=more).encode()) for more in ("", loop)],
        "scenario": [("s.toml", scenario_text(name).encode()) for name in names()],
        "side file": [("a.surefoot.toml", text.encode()) for text in _side_files()],
        "trajectory": _motions(),
    }


def _side_files() -> Iterator[str]:
    """Every table of docs/side-file.md, with the names of solo12."""
    yield """base = "floating"\npassive = ["FL_KFE"]\n[home.joints]\nFL_HFE = 0.8\nFL_KFE = -1.6
[contacts.front]\nframe = "FL_FOOT"\nkind = "rectangle"\nposition = [0.03, 0.0, -0.03]\nrpy = [0.0, 0.0, 0.0]
size = [0.02, 0.06]\nfriction = 0.7\n[contacts.hind]\nframe = "HL_FOOT"\nkind = "polygon"
corners = [[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]]\n[contacts.ball]\nframe = "HR_FOOT"\nkind = "soft_finger"
torsional_friction = 0.01\nradius = 0.01\n"""
    yield """[drives.FL_KFE]\ngear_ratio = 100.0\nrotor_inertia = 1e-5\ngear = "elastic"\nstiffness = 100.0
damping = 0.1\ntorque_limit = 120.0\nspeed_limit = 12.0\ncorner_speed = 8.0\nresistance = 0.5\ninductance = 1e-3
torque_constant = 0.05\nvoltage = 24.0\ndry_friction = 0.2\n[drives.FR_KFE]\nservo_stiffness = 20.0
servo_damping = 0.5\nservo_dead_band = 0.001\nservo_step = 0.002\n[anatomy]\nforward = [1.0, 0.0, 0.0]\n"""
    yield """[loops.tie]\nframe_a = "FL_FOOT"\nframe_b = "FR_FOOT"\nposition_a = [0.0, 0.0, 0.1]
rpy_a = [0.0, 0.0, 0.0]\ndirections = ["x", "y", "z"]\n[couplings.HL_KFE]\nsource = "HR_KFE"\nratio = -1.0\noffset = 0.0
[joints.HL_HFE]\nkind = "spherical"\n[collisions.shin]\nlink = "FL_LOWER_LEG"\nshape = "capsule"\nradius = 0.05
length = 0.3\nposition = [0.0, 0.0, -0.15]\nrpy = [0.0, 0.0, 0.0]\n"""


def _arrays() -> dict[str, dict[str, Any]]:
    """One second of solo12 as motion sets have it: arrays by name, for each kind of file."""
    robot, at = _robot(), np.arange(31) / 30.0
    q = np.tile(robot.home, (31, 1))
    q[:, 7:] += 0.1 * np.sin(3.0 * at)[:, None]
    wxyz = np.hstack([q[:, :3], np.roll(q[:, 3:7], 1, axis=1), q[:, 7:]])
    names = ["base.x", "base.y", "base.z", "base.qx", "base.qy", "base.qz", "base.qw", *robot.joint_names[1:]]
    columns = {"time": at} | {name: q[:, k] for k, name in enumerate(names)}
    entry = {"root_trans_offset": q[:, :3], "root_rot": q[:, 3:7], "dof": q[:, 7:].astype(np.float32), "fps": 30}
    smpl = {"trans": q[:, :3], "root_orient": np.zeros((31, 3)), "dof_pos": q[:, 7:], "mocap_framerate": 30.0}
    return {
        "named.csv": columns, "columns.parquet": columns, "asap.pkl": entry, "amass.npz": smpl,
        "q.npz": {"time": at, "q": q}, "qpos.npz": {"qpos": wxyz, "fps": 30}, "qpos.npy": {"qpos": wxyz},
        "isaac.npz": _isaac(robot, q),
    }  # fmt: skip


def _isaac(robot: Robot, q: np.ndarray) -> dict[str, Any]:
    """As Isaac Lab records a motion: joints level by level, and the pose and velocity of every link, wxyz."""
    order = [int(robot.tree.q_index[robot.joint_index(name)]) for name in joint_orders(robot)["breadth-first"]]
    placed = link_placements(robot, q, robot.tree.body_names)
    still = np.zeros((*placed.shape[:2], 3))
    turns = np.array([[pin.Quaternion(T[:3, :3]).coeffs() for T in row] for row in placed])
    return {
        "fps": np.array([30]), "joint_pos": q[:, order], "joint_vel": np.gradient(q[:, order], 1.0 / 30.0, axis=0),
        "body_pos_w": placed[:, :, :3, 3], "body_quat_w": np.roll(turns, 1, axis=2),
        "body_lin_vel_w": still, "body_ang_vel_w": still,
    }  # fmt: skip


@lru_cache(maxsize=1)
def _robot() -> Robot:
    return load("solo12", meshes="skip")


def _encoded(name: str, arrays: dict[str, Any]) -> bytes:
    """The content of a file by its ending."""
    stream = io.BytesIO()
    if name.endswith(".npz"):
        np.savez(stream, **arrays)
    elif name.endswith(".npy"):
        np.save(stream, next(iter(arrays.values())))
    elif name.endswith(".pkl"):
        pickle.dump({"walk": arrays}, stream)
    elif name.endswith(".parquet"):
        pq.write_table(pa.table({key: np.ravel(value) for key, value in arrays.items()}), stream)
    else:
        rows = [",".join(arrays), *(",".join(f"{x:.6f}" for x in row) for row in zip(*arrays.values(), strict=True))]
        return "\n".join(rows).encode()
    return stream.getvalue()


def _motions() -> list[tuple[str, bytes]]:
    """The same in every format that we read."""
    out = [(name, _encoded(name, arrays)) for name, arrays in _arrays().items()]
    table = _arrays()["named.csv"]
    rows = (",".join(f"{x:.6f}" for x in row) for row in zip(*list(table.values())[1:], strict=True))
    out.append(("rows.csv", "\n".join(rows).encode()))
    with tempfile.TemporaryDirectory() as folder:
        for name in ("m.npz", "m.parquet"):
            Trajectory.of(_robot(), table["time"], _arrays()["q.npz"]["q"]).save(Path(folder) / name)
            out.append((name, (Path(folder) / name).read_bytes()))
    return out


def _spoilt(value: Any, rng: np.random.Generator) -> Any:
    """An array of another content, size or type."""
    array = np.array(value)
    if array.ndim and array.size and (kind := rng.integers(12)) < 6:
        array = array.astype(float)
        array.flat[rng.integers(array.size)] = [np.nan, np.inf, 1e308, -1e308, 1e-320, 1e9][kind]
        return array
    others = [
        array.astype(np.complex128), array.astype(str), array.astype(np.int8), array.astype(">f4"), array[..., None],
        np.zeros(0), np.zeros((0, 3)), array[: len(array) // 2] if array.ndim else "30", array.astype(object), None,
        np.zeros_like(array), -array if array.dtype.kind == "f" else 0, array.T, np.asfortranarray(array), array[None],
        np.full(array.shape, [np.nan, 1e300, -1.0, 1e-300, 1e9][rng.integers(5)]), array.astype(np.float16),
    ]  # fmt: skip
    if array.ndim:
        rows, columns = rng.integers(len(array) + 1), rng.integers(array.shape[-1] + 1)
        mixed = array[rng.permutation(len(array))]
        others += [array[:rows], array[..., :columns], np.concatenate([array, array]), mixed]
    return others[rng.integers(len(others))]


def _spoilt_arrays(rng: np.random.Generator) -> tuple[str, str, bytes]:
    """Name, damage and content of a whole file whose arrays are wrong."""
    files = _arrays()
    name = list(files)[rng.integers(1, len(files))]
    arrays, done = dict(files[name]), []
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(1 + int(rng.integers(3) == 0 and len(arrays) > 1)):  # one in three is damaged twice
                done.append(_spoil_one(arrays, rng))
        return name, "+".join(done), _encoded(name, arrays or {"q": np.zeros(0)})
    except (ValueError, TypeError, pa.ArrowException):  # a file that nobody can write
        return name, f"empty {done}", b""


def _spoil_one(arrays: dict[str, Any], rng: np.random.Generator) -> str:
    """Damage one array of a file in place; what was done."""
    key = list(arrays)[rng.integers(len(arrays))]
    damage = ["spoilt", "spoilt", "removed", "renamed"][rng.integers(4)]
    value = arrays.pop(key)
    if damage == "spoilt":
        arrays[key] = _spoilt(value, rng)
    elif damage == "renamed":
        arrays[OTHER_KEYS[rng.integers(len(OTHER_KEYS))]] = value
        if rng.integers(2):  # both
            arrays[key] = value
    return f"{damage} {key}"


KINDS: dict[str, tuple[Callable[[Path, int], None], tuple]] = {
    "URDF": (_robot_file, XML),
    "MJCF": (_robot_file, XML),
    "SDF": (_robot_file, XML),
    "scenario": (_scenario, TEXT),
    "side file": (_side, TEXT),
    "trajectory": (_motion, TEXT),
}


def make_file(folder: Path, seed: int, index: int) -> tuple[str, str, Path]:
    """Write file number `index` of a seed; its kind, its mutation, its path."""
    rng, kind = np.random.default_rng([seed, index]), list(KINDS)[index % len(KINDS)]
    files = samples()[kind]
    path = folder / f"{index}"
    path.mkdir(exist_ok=True)
    if kind == "trajectory" and rng.integers(2):
        name, damage, data = _spoilt_arrays(rng)
        (path / name).write_bytes(data)
        return kind, damage, path / name
    name, data = files[rng.integers(len(files))]
    is_text = kind != "trajectory" or name.endswith(".csv")
    mutations = KINDS[kind][1] if is_text else BINARY
    done = []
    for _ in range(1 + int(rng.integers(4) == 0)):  # one in four is damaged twice
        if data:
            mutation = mutations[rng.integers(len(mutations))]
            data = mutation(data, rng)
            done.append(mutation.__name__)
    (path / name).write_bytes(data)
    return kind, "+".join(done), path / name


def judge(kind: str, path: Path, index: int) -> str:
    """ "read", "refused", or the traceback of a fault."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            KINDS[kind][0](path, index)
    except SurefootError as error:
        return "refused" if str(error).strip() else "an error without a text"
    except BaseException:  # noqa: BLE001 - the faults that are looked for
        return traceback.format_exc()
    return "read"


def _too_slow(*_: object) -> None:
    raise TimeoutError(f"over {LIMIT_S} s of CPU time")


def _work(folder: Path, seed: int, indices: range, results: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.signal(signal.SIGPROF, _too_slow)
    with results.open("a") as out:
        for index in indices:
            kind, mutation, path = make_file(folder, seed, index)
            out.write(json.dumps({"index": index, "kind": kind, "mutation": mutation, "path": str(path)}) + "\n")
            out.flush()
            start = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
            verdict = judge(kind, path, index)
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            out.write(json.dumps({"verdict": verdict, "seconds": time.process_time() - start}) + "\n")
            out.flush()
            if verdict in ("read", "refused"):
                for file in path.parent.iterdir():
                    file.unlink()
                path.parent.rmdir()


def run(count: int, seed: int, folder: Path, start: int = 0, tell: bool = True, kind: str | None = None) -> list[dict]:
    """One record per file, of one kind or of all; the files with faults stay in the folder."""
    samples()  # once, for all processes
    context, records = multiprocessing.get_context("fork"), []
    numbers = range(start, start + count) if kind is None else range(list(KINDS).index(kind), 10**9, len(KINDS))[start:]
    numbers = numbers[:count]
    while len(records) < count:
        results = folder / "results.jsonl"
        results.unlink(missing_ok=True)
        indices = numbers[len(records) : len(records) + _BATCH]
        process = context.Process(target=_work, args=(folder, seed, indices, results))
        process.start()
        process.join()
        lines = [json.loads(line) for line in results.read_text().splitlines()]
        new = [first | second for first, second in zip(lines[::2], lines[1::2], strict=False)]
        if len(lines) % 2:
            new.append(lines[-1] | {"verdict": f"the process died with {process.exitcode}", "seconds": 0.0})
        if not new:
            raise RuntimeError(f"the process began nothing and died with {process.exitcode}")
        records += new
        if tell:
            _tell_new(new, len(records), count)
    return records


def faults(records: list[dict]) -> list[dict]:
    """Those that were neither read nor refused."""
    return [record for record in records if record["verdict"] not in ("read", "refused")]


def _tell_new(records: list[dict], done: int, count: int) -> None:
    for record in faults(records):
        last = record["verdict"].strip().splitlines()[-1]
        print(f"FAULT {record['kind']} {record['mutation']}: {last}: {record['path']}", flush=True)
    print(f"{done} of {count}", file=sys.stderr, flush=True)


def table(records: list[dict]) -> str:
    """Counts by kind."""
    rows = ["| kind | files | read | refused | faults | slowest [s CPU] |", "|---|---|---|---|---|---|"]
    for kind in KINDS:
        own = [record for record in records if record["kind"] == kind]
        verdicts = Counter(record["verdict"] if record["verdict"] in ("read", "refused") else "fault" for record in own)
        slowest = max((record["seconds"] for record in own), default=0.0)
        counts = " | ".join(str(verdicts[verdict]) for verdict in ("read", "refused", "fault"))
        rows.append(f"| {kind} | {len(own)} | {counts} | {slowest:.1f} |")
    return "\n".join(rows)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--kind", choices=list(KINDS), help="only files of this kind")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="mutated_"))
    records = run(arguments.count, arguments.seed, folder, arguments.start, kind=arguments.kind)
    print(table(records))
    print(f"faulty files: {folder}")
    return int(bool(faults(records)))


if __name__ == "__main__":
    sys.exit(main())
