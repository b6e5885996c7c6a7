# %%
# Exercise 6.1
def other_direction(form, X, C, U):
    """Return clauses that make costs false; C and U map samples to variables."""
    rows = [~x | ~c for i, c in C.items() for x in X[~form.agreement[i]]]
    return rows + [cp.any([~u, *X[~form.agreement[i]]]) for i, u in U.items()]


# %%
# Exercise 6.2
def counter(X, k):
    """Return constraints that say that at most k are true, and auxiliary variables."""
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
