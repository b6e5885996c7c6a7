"""scikit-learn's MLPClassifier, with training that Ctrl-C interrupts."""

from __future__ import annotations

import warnings
from typing import Any, Self

from sklearn import neural_network

from cpx.processes.interrupts import interruptible


class MLPClassifier(neural_network.MLPClassifier):
    """The classifier of scikit-learn, but an interrupt of its training is raised.

    scikit-learn's own returns the half-trained network with no more than a warning, and all
    that is said of it afterwards would be said of another classifier.
    """

    def fit(self, *args: Any, **kwargs: Any) -> Self:
        """Train the network; see scikit-learn."""
        with warnings.catch_warnings(), interruptible():
            warnings.filterwarnings("ignore", "Training interrupted by user")
            super().fit(*args, **kwargs)
        return self
