"""Reading URDF files, with suspicion."""

from surefoot.robot.urdf.read import require_sound, urdf_couplings, urdf_links, urdf_model, without_subtree
from surefoot.robot.urdf.scan import UrdfDocument, scan_urdf
from surefoot.robot.urdf.shapes import MESH_MODES, urdf_geometries

__all__ = [
    "MESH_MODES",
    "UrdfDocument",
    "require_sound",
    "scan_urdf",
    "urdf_couplings",
    "urdf_geometries",
    "urdf_links",
    "urdf_model",
    "without_subtree",
]
