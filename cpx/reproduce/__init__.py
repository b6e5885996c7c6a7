"""Published experiments, made again with the engines of cpx beside the published methods."""
