"""From sensors to states: a contact-aided inertial filter for the base, and what it needs."""

from surefoot.estimation.base_estimator import BaseEstimator
from surefoot.estimation.contact_probability import contact_probability
from surefoot.estimation.encoded_joints import EncodedJoints
from surefoot.estimation.settings import EstimatorSettings

__all__ = ["BaseEstimator", "EncodedJoints", "EstimatorSettings", "contact_probability"]
