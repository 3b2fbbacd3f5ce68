"""Videos of runs, rendered by a browser or by MuJoCo."""

from surefoot.report.video.camera import FilmSettings, parse_camera, parse_size
from surefoot.report.video.video import write_film

__all__ = ["FilmSettings", "parse_camera", "parse_size", "write_film"]
