"""Published experiments, made again, a package for each paper; what they share stands here."""
