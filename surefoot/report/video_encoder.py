"""Pictures into a film: MP4 (H.264) or GIF, by the ffmpeg that `imageio-ffmpeg` brings."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from surefoot.errors import FileFormatError, NotSupportedError, ShapeError
from surefoot.report.video_camera import FilmSettings

__all__ = ["FILM_SUFFIXES", "film_encoder"]

FILM_SUFFIXES = (".mp4", ".gif")
_OUTPUTS = {
    ".mp4": ("-c:v", "libx264", "-preset", "medium", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart",
             "-f", "mp4"),
    ".gif": ("-filter_complex", "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1", "-loop", "0",
             "-f", "gif"),
}  # fmt: skip


@contextmanager
def film_encoder(path: Path, suffix: str, settings: FilmSettings, pictures: str) -> Iterator[Callable[[bytes], None]]:
    """Write a film picture by picture.

    Args:
        path: The file to write.
        suffix: ".mp4" or ".gif".
        settings: Pictures a second and size.
        pictures: What comes in: "jpeg", or "rgb24": rows from the top, three bytes a pixel.

    Yields:
        A function that takes the next picture.

    Raises:
        NotSupportedError: `imageio-ffmpeg` is not installed.
        ShapeError: The size is not one that the format can have.
        FileFormatError: ffmpeg fails.
    """
    if suffix == ".mp4" and any(side % 2 for side in settings.size):
        raise ShapeError("width and height of an MP4 are even", evidence={"size": "{}x{}".format(*settings.size)})
    words = [_ffmpeg(), "-hide_banner", "-loglevel", "error", "-y", *_input(settings, pictures), *_OUTPUTS[suffix]]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([*words, str(path)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors)
        stdin = process.stdin
        if stdin is None:
            raise NotSupportedError("ffmpeg takes no pictures")
        finished = False
        try:
            yield lambda picture: _hand_over(stdin.write, picture)
            stdin.close()
            finished = process.wait() == 0
        except _BrokenError:
            finished = False
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()
        if not finished:
            raise FileFormatError("the film could not be written", evidence={"ffmpeg": said or "no word"})


class _BrokenError(Exception):
    """ffmpeg went away."""


def _hand_over(write: Callable[[bytes], int], picture: bytes) -> None:
    try:
        write(picture)
    except BrokenPipeError as error:
        raise _BrokenError from error


def _input(settings: FilmSettings, pictures: str) -> list[str]:
    size = "{}x{}".format(*settings.size)
    kind = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size] if pictures == "rgb24" else []
    kind = kind or ["-f", "image2pipe", "-c:v", "mjpeg"]
    return [*kind, "-framerate", f"{settings.fps:g}", "-i", "-"]


def _ffmpeg() -> str:
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise NotSupportedError(
            "films need the package imageio-ffmpeg", next_step="run `pip install imageio-ffmpeg`"
        ) from error
    return str(imageio_ffmpeg.get_ffmpeg_exe())
