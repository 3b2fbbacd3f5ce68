"""Contacts: what the ground can carry before it slips."""

from surefoot.contact.friction_band import FrictionBand, friction_band

__all__ = ["FrictionBand", "friction_band"]
