# %%
# Exercise 2.1
def when_covered(form, X, C):
    """Return a clause for each sample that costs when it is covered."""
    return [cp.any([charged, *X[~form.agreement[i]]]) for i, charged in C.items()]


# %%
# Exercise 2.2
def when_missed(form, X, U):
    """Return the clauses for the samples that cost when they are not covered."""
    return [~x | charged for i, charged in U.items() for x in X[~form.agreement[i]]]


# %%
# Exercise 2.3
wcnf = """
c 1 = X[0]: a
c 2 = X[1]: b
c 3 = C[0]
c 4 = U[1]
c 5 = C[2]
h -1 -2 0
h 3 1 2 0
h 3 0
h -2 4 0
h 5 1 0
1 -3 0
1 -4 0
3 -5 0
"""
