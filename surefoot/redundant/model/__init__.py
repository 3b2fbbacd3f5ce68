"""A mechanism as a graph of bodies and hinges, and its file."""

from surefoot.redundant.model.file import load_model, model_names, save_model
from surefoot.redundant.model.layout import ContactRows, Layout, Links, Model
from surefoot.redundant.model.model import GROUND, Action, Actuator, Ball, Body, Contact, Freedom, Hinge, Link

__all__ = [
    "GROUND",
    "Action",
    "Actuator",
    "Ball",
    "Body",
    "Contact",
    "ContactRows",
    "Freedom",
    "Hinge",
    "Layout",
    "Link",
    "Links",
    "Model",
    "load_model",
    "model_names",
    "save_model",
]
