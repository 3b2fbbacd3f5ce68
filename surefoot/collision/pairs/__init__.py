"""Distances of pairs of volumes: kernels, gradients, and which pairs can ever meet."""

from surefoot.collision.pairs.fused import MOST_OPERATIONS, FusedPairs
from surefoot.collision.pairs.gradients import ClosestPairs, NearestPair, PairGradients, Proximity, joint_rates
from surefoot.collision.pairs.kernels import Nearest, generator_distances, generator_nearest, pair_kernel
from surefoot.collision.pairs.pruning import Pruning, PruningSettings, prune
from surefoot.collision.pairs.table import PairTable

__all__ = [
    "MOST_OPERATIONS",
    "ClosestPairs",
    "FusedPairs",
    "Nearest",
    "NearestPair",
    "PairGradients",
    "PairTable",
    "Proximity",
    "Pruning",
    "PruningSettings",
    "generator_distances",
    "generator_nearest",
    "joint_rates",
    "pair_kernel",
    "prune",
]
