# %%
# Exercise 3.1
def binomial(X, k):
    """Return a clause for each set of features that may not all be chosen."""
    return [cp.any([~x for x in chosen]) for chosen in combinations(X, k + 1)], []


# %%
# Exercise 3.2
def sequential(X, k):
    """Return the clauses of Sinz's counter."""
    if k == 0:
        return [~x for x in X], []
    S = [[cp.boolvar(name=f"S[{j},{c}]") for c in range(k)] for j in range(len(X))]
    rows = []
    for j, x in enumerate(X):
        rows.append(~x | S[j][0])
        if j > 0:
            rows += [~S[j - 1][c] | S[j][c] for c in range(k)]
            rows += [~x | ~S[j - 1][c - 1] | S[j][c] for c in range(1, k)]
            rows.append(~x | ~S[j - 1][k - 1])
    return rows, [s for row in S for s in row]


# %%
# Exercise 3.3
def merged(P, Q, O):
    """Return the clauses of a node."""
    rows = [~p | o for p, o in zip(P, O)] + [~q | o for q, o in zip(Q, O)]
    return rows + [~p | ~q | O[a + b + 1] for a, p in enumerate(P) for b, q in enumerate(Q)]
