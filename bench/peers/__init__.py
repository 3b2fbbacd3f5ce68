"""Other libraries: in this process (Pinocchio, MuJoCo), or in interpreters of their own (Drake, placo, pink, mink)."""

from bench.peers.drake import DrakePeer
from bench.peers.ik import IK_PEERS, PeerAnswers, peer_pythons, run_peer
from bench.peers.mujoco import MujocoPeer
from bench.peers.outside import copy_scripts, run_outside, write_bare_urdf
from bench.peers.pinocchio import PinocchioBatch, PinocchioConstraints

__all__ = [
    "IK_PEERS", "DrakePeer", "MujocoPeer", "PeerAnswers", "PinocchioBatch", "PinocchioConstraints", "copy_scripts",
    "peer_pythons", "run_outside", "run_peer", "write_bare_urdf",
]  # fmt: skip
