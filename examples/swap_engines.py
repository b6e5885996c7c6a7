"""Solve one saved instance with different engines and encodings."""

from sklearn.datasets import load_iris

import cpx

data = load_iris(as_frame=True)
explainer = cpx.Explainer.train("forest", data.data, data.target)
problem = explainer.problem(data.data.iloc[60], k=3, m=100, objective="loss")
cpx.save(problem, "iris.json.gz")
problem = cpx.load("iris.json.gz")

print(f"{'engine':<14} {'encoding':<12} {'status':<9} {'value':>5} {'bound':>5} {'seconds':>8}")
for backend in ("cpsat", "maxsat:rc2", "maxsat:lsu", "milp:highs", "milp:cbc"):
    for encoding in ("clausal", "channelling", "reified"):
        # A worker process makes the limit hard.
        result = cpx.solve(problem, backend, encoding=encoding, time_limit=5, isolate=True)
        print(
            f"{result.engine:<14} {encoding:<12} {result.status:<9} {result.objective!s:>5} "
            f"{result.bound!s:>5} {result.times.total:>8.2f}"
        )
        assert result.verified

print(f"\n{result.explanation}")
