"""How a problem is solved by a sequence of engine calls or by a published heuristic."""
