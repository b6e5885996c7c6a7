# %% [markdown]
# # 4 MaxSAT and cores
#
# A MaxSAT solver pays for broken soft clauses. It can come from above, by better and better solutions, or from below, by cores. You will do both.

# %%
import cpmpy as cp
import numpy as np
from pysat.card import CardEnc, EncType
from pysat.formula import WCNF
from pysat.solvers import Minisat22

import cpx
from cpx.export import export_bytes, read_legend, show
from cpx.export.cores import cores
from cpx.models import Statement

four = cpx.KMonomial(
    cpx.Samples(
        agreement=[[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0]],
        same=[1, 0, 0, 0],
        features=("a", "b", "c", "d"),
    ),
    k=1,
)
print(show(four, "wcnf"))

# %% [markdown]
# ## Exercise 4.1: positive weights
#
# The weights of soft clauses are positive. The encoding `reified` has an objective with weights of both signs: $\sum_i (p_i - q_i) V_i + \sum_i q_i$, where $p_i$ is the cost of covering sample i, and $q_i$ that of not covering it.
#
# Write it as literals that cost something when they are true, and a constant. `~V[i]` is the literal "not covered". For which samples does the list below have the wrong literal?


# %%
# Exercise 4.1
def paid(form, V):
    """Return pairs of a positive weight and a literal, and the constant."""
    net = form.cost_covered - form.cost_uncovered
    pairs = [(abs(int(weight)), V[i]) for i, weight in enumerate(net) if weight]
    return pairs, int(form.cost_uncovered.sum())


# %%
def weighted(form):
    """Return coverage as equivalences, with the objective of the exercise."""
    m, d = form.agreement.shape
    X, V = cp.boolvar(shape=(d,), name="X"), cp.boolvar(shape=(m,), name="V")
    rows = [cp.sum(X) <= form.k]
    for i in range(m):
        differing = X[~form.agreement[i]]
        rows.append(V[i] == ~cp.any(differing) if len(differing) else V[i])
    pairs, constant = paid(form, V)
    if any(weight <= 0 for weight, _ in pairs):
        raise ValueError("a weight is not positive")
    total = cp.sum([weight * literal for weight, literal in pairs]) + 0 * cp.sum(X)
    return Statement(cp.Model(rows, minimize=total), {"X": X, "V": V}, None, offset=constant)


PLAIN = ("limits", "required", "forbidden", "one_per_group")

# %%
# Mark of 4.1
cpx.grade(weighted, without=PLAIN, n=60)

# %% [markdown]
# ## From above
#
# A solution has a cost. Ask for a solution that costs less, until there is none. The last solution is optimal, and the proof is one unsatisfiable call.
#
# ## Exercise 4.2: a search that improves solutions
#
# `clauses` are the hard clauses of an instance with weights 1, `costs` the literals that cost 1 when they are true. `at_most(literals, bound, top)` returns clauses which say that at most so many are true. `solver.solve()` says whether there is a solution, and `solver.get_model()` returns its true literals. What is below stops too early.


# %%
def at_most(literals, bound, top):
    """Return clauses: at most ``bound`` of the literals are true; ``top`` is the last variable."""
    made = CardEnc.atmost(lits=literals, bound=bound, top_id=top, encoding=EncType.totalizer)
    return made.clauses


# %%
# Exercise 4.2
def improve(clauses, costs, top):
    """Return the least number of costs of a solution."""
    with Minisat22(clauses) as solver:
        solver.solve()
        model = set(solver.get_model())
    return sum(literal in model for literal in costs)


# %%
def clauses_of(problem):
    """Return hard clauses, the literals that cost something, the last variable, and names."""
    data = export_bytes(problem, "wcnf")
    formula, legend = WCNF(from_string=data.decode()), read_legend(data)
    names = {int(number): "{}[{}]".format(*place) for number, place in legend.names.items()}
    return formula.hard, [-clause[0] for clause in formula.soft], formula.nv, names


def random_problem(seed, k=2):
    """Return an instance of 12 samples and 6 features."""
    rng = np.random.default_rng(seed)
    return cpx.KMonomial(cpx.Samples(rng.random((12, 6)) < 0.6, rng.random(12) < 0.4), k=k)


# %%
# Mark of 4.2
all(
    improve(*clauses_of(random_problem(seed))[:3])
    == cpx.solve(random_problem(seed), "search").objective
    for seed in range(5)
)

# %% [markdown]
# ## From below
#
# Assume that nothing is paid. If that contradicts the hard clauses, a few costs are to blame: a *core*. At least one of them must be paid, so the bound rises by the least of their weights. Then the core becomes a counter: one is allowed, a second one costs. RC2 (Ignatiev, Morgado and Marques-Silva, 2019) goes on so until there is a solution.

# %%
cores(four)

# %% [markdown]
# Each line is a proof that the bound may rise. Three samples of another class and one of the class, k = 1, and two cores: no rule loses less than 2.
#
# ## Exercise 4.3: a core by hand
#
# Here is an instance. Name costs which cannot all be avoided, and of which none can be left out. `core` is a list of names such as `"C[0]"` and `"U[0]"`.

# %%
two = cpx.KMonomial(
    cpx.Samples(
        agreement=[[0, 1, 1], [1, 0, 0], [0, 1, 0], [1, 1, 0]],
        same=[1, 1, 0, 0],
        features=("a", "b", "c"),
    ),
    k=1,
)
print(show(two, "cnf"))

# %%
# Exercise 4.3
core = ["U[0]"]


# %%
def avoidable(problem, names):
    """Return whether a solution pays none of the costs of these names."""
    clauses, costs, _, known = clauses_of(problem)
    with Minisat22(clauses) as solver:
        return solver.solve([-literal for literal in costs if known[literal] in names])


# %%
# Mark of 4.3
not avoidable(two, core) and all(avoidable(two, {*core} - {name}) for name in core)

# %% [markdown]
# ## What an engine did
#
# Results tell what their engine counted:

# %%
cpx.solve(random_problem(2, k=2), "maxsat", warm_start=False).statistics

# %% [markdown]
# ## Questions
#
# 1. When is a search from above quick, and when one from below? Think of the number of costs that must be paid.
# 2. Why is the price of a core the least weight in it, and what becomes of the rest of the weights?
# 3. Is the last solution of RC2 the only one that it ever sees? Run `cpx show --as wcnf --solve`.
