"""The frames of an SDF model: poses that refer to each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.errors import FileFormatError, ModelError, one_of
from surefoot.robot.model import placement
from surefoot.robot.xml_guard import Element, numbers

_LARGEST = 1e12  # of lengths, masses and inertias: beyond it their products lose all meaning


def text_of(element: Element | None, *path: str) -> str:
    """Text of an element below another, stripped; "" where there is none.

    Args:
        element: Where to begin.
        path: Tags on the way.
    """
    for tag in path:
        element = element.first(tag) if element is not None else None
    return element.text.strip() if element is not None else ""


def values_of(element: Element | None, path: tuple[str, ...], default: tuple[float, ...], file: str | Path) -> Array:
    """Numbers of an element below another.

    Args:
        element: Where to begin.
        path: Tags on the way.
        default: Where there is none; it gives the count.
        file: For messages.
    """
    for tag in path:
        element = element.first(tag) if element is not None else None
    if element is None or not element.text.strip():
        return np.array(default)
    found = numbers(element.text, len(default))
    if found is None or (path[:1] != ("limit",) and np.abs(found).max() > _LARGEST):
        raise FileFormatError(
            f"<{element.tag}> is not {len(default)} finite numbers of moderate size",
            file=file, line=element.line, evidence={"text": element.text.strip()[:100]},
        )  # fmt: skip
    return np.array(found)


class Frames:
    """Placements of links, joints and frames in their model.

    Args:
        model: The `<model>` element.
        version: Of the format: before 1.5, axes are in the frame of the model.
        file: For messages.
    """

    def __init__(self, model: Element, version: float, file: str | Path) -> None:
        self._file, self.version = file, version
        tags = ("link", "joint", "frame")
        self._elements = {x.attributes.get("name", ""): x for x in model.children if x.tag in tags}
        self._known: dict[str, Array] = {"__model__": placement(), "": placement()}

    def of(self, name: str, chain: tuple[str, ...] = ()) -> Array:
        """T_model_frame (4, 4) of a link, joint or frame.

        Args:
            name: Its name.
            chain: Frames that ask for it.

        Raises:
            UnknownNameError: There is no such frame.
            ModelError: Frames refer to each other in a cycle.
        """
        if name in self._known:
            return self._known[name]
        if name not in self._elements:
            raise one_of("frame", name, self._elements).with_place(self._file)
        if name in chain:
            raise ModelError(
                "poses refer to each other in a cycle", evidence={"frames": [*chain, name]}, file=self._file
            )
        element = self._elements[name]
        default = text_of(element, "child") if element.tag == "joint" else element.attributes.get("attached_to", "")
        self._known[name] = self.pose(element, default, (*chain, name))
        return self._known[name]

    def pose(self, element: Element, default: str = "", chain: tuple[str, ...] = ()) -> Array:
        """T_model_element (4, 4) from the `<pose>` of an element.

        Args:
            element: The element.
            default: Frame that the pose is in, if it names none.
            chain: Frames that ask for it.
        """
        return self.of(self._relative(element, default), chain) @ self.local_pose(element)

    def local_pose(self, element: Element) -> Array:
        """T (4, 4) as written in `<pose>`: x y z roll pitch yaw; identity without one."""
        x = values_of(element, ("pose",), (0.0,) * 6, self._file)
        return placement(x[:3], pin.rpy.rpyToMatrix(x[3:]))

    def axis(self, joint: Element, tag: str) -> Array:
        """(3,) unit direction of an axis in the frame of its joint; z where none is given.

        Args:
            joint: The joint.
            tag: "axis" or "axis2".
        """
        axis = joint.first(tag)
        vector = values_of(axis, ("xyz",), (0.0, 0.0, 1.0), self._file)
        if np.linalg.norm(vector) < 1e-9:
            raise ModelError("an axis has no direction", file=self._file, line=joint.line)
        xyz = axis.first("xyz") if axis is not None else None
        frame = xyz.attributes.get("expressed_in") if xyz is not None else None
        in_model = self.version < 1.5 or text_of(axis, "use_parent_model_frame") in ("1", "true")
        if frame or in_model:
            to_model = self.of(frame)[:3, :3] if frame else np.eye(3)
            vector = self.of(joint.attributes["name"])[:3, :3].T @ to_model @ vector
        return np.asarray(vector / np.linalg.norm(vector))

    def _relative(self, element: Element, default: str) -> str:
        pose = element.first("pose")
        attributes = pose.attributes if pose is not None else {}
        return attributes.get("relative_to") or attributes.get("frame") or default
