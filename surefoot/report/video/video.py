"""`write_film`: a motion as MP4 (H.264) or GIF without a display, encoded by the ffmpeg of `imageio-ffmpeg`."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from surefoot.errors import FileFormatError, NotSupportedError, ShapeError, one_of
from surefoot.files import atomic_write
from surefoot.report.evidence import Evidence
from surefoot.report.video.browser import browser_film, find_browser
from surefoot.report.video.camera import FilmSettings, film_times
from surefoot.report.video.mujoco import mujoco_film, open_gl

FILM_SUFFIXES = (".mp4", ".gif")
_OUTPUTS = {
    ".mp4": ("-c:v", "libx264", "-preset", "medium", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart",
             "-f", "mp4"),
    ".gif": ("-filter_complex", "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1", "-loop", "0",
             "-f", "gif"),
}  # fmt: skip


@contextmanager
def film_encoder(path: Path, suffix: str, settings: FilmSettings, pictures: str) -> Iterator[Callable[[bytes], None]]:
    """Write a video frame by frame.

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
        raise ShapeError("width and height of an MP4 must be even", evidence={"size": "{}x{}".format(*settings.size)})
    words = [_ffmpeg(), "-hide_banner", "-loglevel", "error", "-y", *_input(settings, pictures), *_OUTPUTS[suffix]]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([*words, str(path)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors)
        stdin = process.stdin
        if stdin is None:
            raise NotSupportedError("ffmpeg does not accept frames")
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
            raise FileFormatError("the video could not be written", evidence={"ffmpeg": said or "no word"})


class _BrokenError(Exception):
    """ffmpeg ended early."""


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
            "video export needs the package imageio-ffmpeg", next_step="run `pip install imageio-ffmpeg`"
        ) from error
    return str(imageio_ffmpeg.get_ffmpeg_exe())


RENDERERS = ("auto", "browser", "mujoco")


class Film(Protocol):
    """What takes pictures of a motion; `kind` says what `film_encoder` gets: "jpeg" or "rgb24"."""

    kind: str

    def picture(self, t: float) -> bytes:
        """The picture at a time [s]."""


def write_film(
    path: str | Path,
    evidence: Evidence,
    settings: FilmSettings | None = None,
    renderer: str = "auto",
    progress: Callable[[float], None] | None = None,
) -> int:
    """Write a video of a motion, whole or not at all.

    Args:
        path: The file, `.mp4` or `.gif`.
        evidence: The motion, and what to show beside it.
        settings: How; the defaults if omitted.
        renderer: "browser": the page of the report in chromium; "mujoco": MuJoCo with EGL or OSMesa; "auto": the
            first of these that is there.
        progress: Called with the share that is done, 0…1.

    Returns:
        The number of pictures.

    Raises:
        NotSupportedError: Nothing is there that could draw; the message names what to install.
        FileFormatError: The suffix is not known, or the file cannot be written.
    """
    how = settings or FilmSettings()
    suffix = Path(path).suffix.lower()
    if suffix not in FILM_SUFFIXES:
        raise FileFormatError(
            f"suffix `{suffix}` is not a video format", file=path, next_step=f"use {' or '.join(FILM_SUFFIXES)}"
        )
    times = film_times(float(evidence.time[0]), float(evidence.time[-1]), how)
    with (
        atomic_write(path) as temporary,
        open_film(evidence, how, renderer) as film,
        film_encoder(temporary, suffix, how, film.kind) as add,
    ):
        for k, t in enumerate(times.tolist(), 1):
            add(film.picture(t))
            if progress is not None:
                progress(k / len(times))
    return len(times)


def open_film(evidence: Evidence, settings: FilmSettings, renderer: str = "auto") -> AbstractContextManager[Film]:
    """The renderer of the frames, as a context.

    Args:
        evidence: The motion.
        settings: Size and camera.
        renderer: One of `RENDERERS`.
    """
    if renderer not in RENDERERS:
        raise one_of("renderer", renderer, RENDERERS)
    if renderer == "browser" or (renderer == "auto" and find_browser() is not None):
        return browser_film(evidence, settings)
    try:
        return mujoco_film(evidence, settings, open_gl(settings.size))
    except NotSupportedError as error:
        if renderer == "mujoco":
            raise
        raise NotSupportedError(
            "no renderer is available: chromium and a GL library for MuJoCo are both missing",
            evidence=error.evidence,
            next_step="run `make browser` (chromium), or install a GL library (Debian: libegl1 or libosmesa6)",
        ) from error
