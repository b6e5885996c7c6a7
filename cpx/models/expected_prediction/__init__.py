"""Expected predictions of tree models: the features that make the model expect its class."""
