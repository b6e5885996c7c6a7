"""Whether attributes force the class of a row, whatever the others are: decided exactly."""
