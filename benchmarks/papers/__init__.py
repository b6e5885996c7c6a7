"""Published experiments reproduced, one package per paper, and what they share."""
