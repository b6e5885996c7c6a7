"""Branch and cut for minimum sufficient reasons."""
