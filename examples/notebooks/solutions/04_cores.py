# %%
# Exercise 4.1
def paid(form, V):
    """Return pairs of a positive weight and a literal, and the constant."""
    net = form.cost_covered - form.cost_uncovered
    pairs = [
        (abs(int(weight)), V[i] if weight > 0 else ~V[i]) for i, weight in enumerate(net) if weight
    ]
    return pairs, int(np.minimum(form.cost_covered, form.cost_uncovered).sum())


# %%
# Exercise 4.2
def improve(clauses, costs, top):
    """Return the least number of costs of a solution."""
    best = len(costs) + 1
    while best > 0:
        with Minisat22([*clauses, *at_most(costs, best - 1, top)]) as solver:
            if not solver.solve():
                break
            model = set(solver.get_model())
        best = sum(literal in model for literal in costs)
    return best


# %%
# Exercise 4.3
core = ["C[1]", "U[1]"]
