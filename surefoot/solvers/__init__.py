"""Solvers: they take functions, vectors and matrices, and never see a robot. One sub-package for each kind."""

__all__: list[str] = []
