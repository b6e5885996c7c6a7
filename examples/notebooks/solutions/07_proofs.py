# %%
# Exercise 7.1
def bound(agreement, same, chosen, candidates, r):
    """Return a lower bound on the cost of all rules that add at most r candidates."""
    covered = agreement[:, list(chosen)].all(axis=1)
    bad, lost = (covered & ~same).sum(), (~covered & same).sum()
    removed = [(covered & ~same & ~agreement[:, j]).sum() for j in candidates]
    return int(lost + max(0, bad - sum(sorted(removed)[-r:])))


# %%
# Exercise 7.2
def proof(instance):
    """Return the text of a proof: the header, then a line for each box."""
    header = {
        "format": "cpx-proof",
        "version": 1,
        "kind": "monomial",
        "problem": "k-monomial",
        "instance": fingerprint(instance),
        "claim": {"bound": result.objective},
    }
    lines = [json.dumps(header), "split 0 1 2 3 4 5 6 7", *["counted"] * 8]
    return "\n".join(lines) + "\n"


# %%
# Exercise 7.3
honest = Encoding("without-idle", without_idle, every_solution=False)
