"""What explainers offer for one rule: guarantees, adaptive samples, rival rules."""
