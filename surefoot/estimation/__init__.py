"""From sensors to states: a contact-aided inertial filter for the base, and what it needs."""

from surefoot.estimation.base_estimator import BaseEstimator
from surefoot.estimation.settings import EstimatorSettings
from surefoot.estimation.state_layout import BaseLayout, EncodedJoints
from surefoot.estimation.trackers import contact_probability

__all__ = ["BaseEstimator", "BaseLayout", "EncodedJoints", "EstimatorSettings", "contact_probability"]
