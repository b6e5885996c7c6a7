"""Rules of kernel machines: the formula of maximum weight."""
