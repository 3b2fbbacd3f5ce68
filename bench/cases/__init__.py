"""One module for each benchmark: `run` measures, `show` prints."""

__all__: list[str] = []
