/* Side constraints: which sets satisfy them, and which features can still be added; see
   side_constraints.py. */

#ifndef CPX_SIDE_CONSTRAINTS_H
#define CPX_SIDE_CONSTRAINTS_H

#include "cpx/backends/search/tables.h"

/* What is at the end of `tight`: how many constraints it has, whether a candidate without terms of
   these breaks one, and whether an additive constraint is done with some candidate. */
#define COUNT(buffers) ((buffers)->tight.at[(buffers)->tight.n - 1])
#define BROKEN(buffers) ((buffers)->tight.at[(buffers)->tight.n - 2])
#define BLOCKED(buffers) ((buffers)->tight.at[(buffers)->tight.n - 3])

INLINED void add_up(const Additive *rows, Ints now, const int64_t *chosen, int64_t size) {
    for (int64_t c = 0; c < now.n; c++)
        now.at[c] = rows->start.at[c];
    for (int64_t x = 0; x < size; x++) {
        const int32_t *changes = ROW(rows->changes, chosen[x]);
        for (int64_t c = 0; c < now.n; c++)
            now.at[c] += changes[c];
    }
}

/* Whether the set of the first chosen columns breaks an additive constraint. */
INLINED bool any_broken(const Additive *rows, const Slacks *slacks, const int64_t *chosen,
                        int64_t size) {
    add_up(rows, slacks->now, chosen, size);
    int64_t least = 0;
    for (int64_t c = 0; c < slacks->now.n; c++)
        least = min(least, slacks->now.at[c]);
    return least < 0;
}

/* Mark the columns that no allowed completion by at most r of the n kept candidates has.

   The result is 1 where some candidate is, 0 where none is, and -1 where there is no completion. */
static inline int64_t block(const Additive *rows, const Slacks *slacks, const int64_t *chosen,
                            int64_t size, const int64_t *ids, const int64_t *kept, int64_t n,
                            int64_t r) {
    Ints now = slacks->now;
    Words members = slacks->members, marked = slacks->blocked;
    const int64_t *places = rows->places.at, *losses = rows->losses.at;
    add_up(rows, now, chosen, size);
    int64_t c = 0;
    while (c < now.n && now.at[c] >= max(0, losses[places[c]]))
        c++;
    if (c == now.n)
        return 0;
    for (int64_t w = 0; w < members.n; w++)
        members.at[w] = marked.at[w] = 0;
    for (int64_t x = 0; x < n; x++) {
        int64_t column = ids[kept[x]];
        members.at[column >> 6] |= UINT64_C(1) << (column & 63);
    }
    for (; c < now.n; c++) {
        int64_t left = now.at[c], entry = places[c];
        if (c < rows->gains.n && left < max(0, losses[entry])) {
            int64_t more = 0;
            for (int64_t e = rows->rises.at[c]; e < rows->rises.at[c + 1]; e++) {
                int64_t adding = 0;
                for (int64_t w = 0; w < members.n; w++)
                    adding += popcount(members.at[w] & ROW(rows->rising, e)[w]);
                more += adding << rows->bits.at[e];
            }
            if (left + min(more, r * rows->gains.at[c]) < 0)
                return -1;
            left += min(more, (r - 1) * rows->gains.at[c]);
        } else if (left < 0) {
            return -1;
        }
        if (losses[entry] > left) {
            while (entry + 1 < places[c + 1] && losses[entry + 1] > left)
                entry++;
            for (int64_t w = 0; w < marked.n; w++)
                marked.at[w] |= ROW(rows->losing, entry)[w];
        }
    }
    uint64_t some = 0;
    for (int64_t w = 0; w < marked.n; w++)
        some |= marked.at[w] & members.at[w];
    return some != 0;
}

/* Whether the column is among those that were marked. */
INLINED bool is_blocked(const Slacks *slacks, int64_t column) {
    return (slacks->blocked.at[column >> 6] >> (column & 63)) & 1;
}

/* The sum of constraint c: its positive terms by `reach`, the others by `truth`. */
INLINED int64_t sum_of(const Side *side, Words truth, Words reach, int64_t c) {
    int64_t total = 0;
    for (int64_t e = side->starts.at[c]; e < side->starts.at[c + 1]; e++) {
        int64_t scale = side->scales.at[e], held = 0;
        const uint64_t *terms = scale > 0 ? reach.at : truth.at, *mask = ROW(side->masks, e);
        for (int64_t w = 0; w < truth.n; w++)
            held += popcount(terms[w] & mask[w]);
        total += scale * held;
    }
    return total;
}

/* Write the terms that hold for the first chosen columns. */
INLINED void hold(const Side *side, Words truth, const int64_t *chosen, int64_t size) {
    for (int64_t w = 0; w < truth.n; w++) {
        uint64_t word = side->held.at[w];
        for (int64_t x = 0; x < size; x++)
            word |= ROW(side->terms, chosen[x])[w];
        truth.at[w] = word;
    }
}

/* Whether a set may need a column for the sake of a constraint. */
INLINED bool is_wanted(const Side *side, int64_t column) {
    return side->there != 0 && side->wanted.at[column] != 0;
}

static NOT_INLINED bool keeps_all(const Side *side, const Buffers *buffers, const int64_t *chosen,
                                  int64_t size) {
    if (any_broken(&side->additive, &buffers->slacks, chosen, size))
        return false;
    if (side->least.n == 0)
        return true;
    hold(side, buffers->other, chosen, size);
    for (int64_t c = 0; c < side->least.n; c++)
        if (sum_of(side, buffers->other, buffers->other, c) < side->least.at[c])
            return false;
    return true;
}

/* Whether the set of the first chosen columns satisfies all constraints. */
INLINED bool allowed(const Side *side, const Buffers *buffers, const int64_t *chosen,
                     int64_t size) {
    return side->there == 0 || keeps_all(side, buffers, chosen, size);
}

/* Note what one candidate may break: 1 where it may, 0 where none can, or -1.

   That is where no set with the chosen columns, and at most r of the n kept candidates, is
   allowed. */
static inline int64_t look(const Side *side, const Buffers *buffers, const int64_t *chosen,
                           int64_t size, const int64_t *ids, const int64_t *kept, int64_t n,
                           int64_t r) {
    Words truth = buffers->truth, reach = buffers->reach, near = buffers->near;
    int64_t count = 0, broken = 0;
    int64_t some = block(&side->additive, &buffers->slacks, chosen, size, ids, kept, n, r);
    COUNT(buffers) = BROKEN(buffers) = 0;
    BLOCKED(buffers) = some;
    if (some < 0 || side->least.n == 0)
        return some;
    hold(side, truth, chosen, size);
    for (int64_t w = 0; w < reach.n; w++) {
        reach.at[w] = truth.at[w];
        near.at[w] = 0;
    }
    for (int64_t x = 0; x < (side->asks != 0 ? n : 0); x++)
        for (int64_t w = 0; w < reach.n; w++)
            reach.at[w] |= ROW(side->terms, ids[kept[x]])[w];
    for (int64_t c = 0; c < side->least.n; c++) {
        const uint64_t *about = ROW(side->about, c);
        if (side->loose.at[c] != 0) {
            uint64_t touched = 0;
            for (int64_t w = 0; w < truth.n; w++)
                touched |= truth.at[w] & about[w];
            if (touched == 0)
                continue;
        }
        int64_t gain = side->gains.at[c], least = side->least.at[c];
        int64_t now = sum_of(side, truth, truth, c), most = now;
        if (gain != 0)
            most = min(sum_of(side, truth, reach, c), now + r * gain);
        if (most < least)
            return -1;
        int64_t next_most = min(most, now + (r - 1) * gain);
        if (next_most - side->losses.at[c] < least) {
            buffers->tight.at[count++] = c;
            if (next_most < least)
                broken = 1;
            for (int64_t w = 0; w < near.n; w++)
                near.at[w] |= about[w];
        }
    }
    COUNT(buffers) = count;
    BROKEN(buffers) = broken;
    return count > 0 ? 1 : some;
}

/* Whether an allowed completion may have the column, by the constraints that were noted. */
static inline bool can_follow(const Side *side, const Buffers *buffers, int64_t column,
                              int64_t r) {
    Words other = buffers->other, truth = buffers->truth;
    if (BLOCKED(buffers) != 0 && is_blocked(&buffers->slacks, column))
        return false;
    if (COUNT(buffers) == 0)
        return true;
    uint64_t touched = 0;
    for (int64_t w = 0; w < other.n; w++) {
        uint64_t added = ROW(side->terms, column)[w] & ~truth.at[w];
        touched |= added & buffers->near.at[w];
        other.at[w] = truth.at[w] | added;
    }
    if (touched == 0)
        return BROKEN(buffers) == 0;
    for (int64_t x = 0; x < COUNT(buffers); x++) {
        int64_t c = buffers->tight.at[x], least = side->least.at[c];
        if (sum_of(side, other, buffers->reach, c) < least)
            return false;
        if (sum_of(side, other, other, c) + (r - 1) * side->gains.at[c] < least)
            return false;
    }
    return true;
}

static NOT_INLINED int64_t drop_impossible(const Side *side, const Buffers *buffers,
                                           const int64_t *chosen, int64_t size,
                                           const int64_t *ids, const int64_t *after,
                                           int64_t covered, int64_t *kept, int64_t n, int64_t r) {
    int64_t left = 0;
    if (side->drop_idle != 0) {
        for (int64_t x = 0; x < n; x++)
            if (after[kept[x]] != covered || side->wanted.at[ids[kept[x]]] != 0)
                kept[left++] = kept[x];
        n = left;
    }
    int64_t some = look(side, buffers, chosen, size, ids, kept, n, r);
    if (some <= 0)
        return some == 0 ? n : 0;
    left = 0;
    bool only_blocked = COUNT(buffers) == 0;
    for (int64_t x = 0; x < n; x++) {
        int64_t p = kept[x];
        if (only_blocked ? !is_blocked(&buffers->slacks, ids[p])
                         : can_follow(side, buffers, ids[p], r))
            kept[left++] = p;
    }
    return left;
}

/* Keep the candidates that an allowed completion by at most r of them may have.

   `after` is the bad weight left with each, `covered` that before: one that removes none is of no
   use unless it may be needed for the sake of a constraint. */
INLINED int64_t keep_possible(const Side *side, const Buffers *buffers, const int64_t *chosen,
                              int64_t size, const int64_t *ids, const int64_t *after,
                              int64_t covered, int64_t *kept, int64_t n, int64_t r) {
    return side->there == 0 ? n
                            : drop_impossible(side, buffers, chosen, size, ids, after, covered,
                                              kept, n, r);
}

/* Whether the kept candidates are enough for an allowed completion by at most r of them.

   There is one without any of them as long as no constraint asks for a column. */
static inline bool still_possible(const Side *side, const Buffers *buffers, const int64_t *chosen,
                                  int64_t size, const int64_t *ids, const int64_t *kept,
                                  int64_t n, int64_t r) {
    if (side->asks == 0 && side->additive.gains.n == 0)
        return true;
    return look(side, buffers, chosen, size, ids, kept, n, r) >= 0;
}

/* Move candidates of which each allowed completion has one to the front; return how many.

   These are the ones that add to a constraint that the chosen columns do not keep, to the one with
   the fewest of them. Where all are kept it is n. Both parts stay in their order. What is left of
   the constraints to which columns add is noted, and `spare` is room for n numbers. */
static inline int64_t ask_first(const Side *side, const Buffers *buffers, const int64_t *chosen,
                                int64_t size, const int64_t *ids, int64_t *kept, int64_t n,
                                int64_t *spare) {
    const Additive *rows = &side->additive;
    Ints now = buffers->slacks.now;
    if (rows->gains.n == 0)
        return n;
    add_up(rows, now, chosen, size);
    int64_t asked = -1, fewest = n;
    for (int64_t c = 0; c < rows->gains.n; c++) {
        if (now.at[c] >= 0)
            continue;
        int64_t adding = 0;
        for (int64_t x = 0; x < n; x++)
            adding += ROW(rows->changes, ids[kept[x]])[c] > 0;
        if (adding < fewest) {
            asked = c;
            fewest = adding;
        }
    }
    if (asked < 0)
        return n;
    int64_t front = 0;
    for (int64_t x = 0; x < n; x++) {
        int64_t p = kept[x];
        if (ROW(rows->changes, ids[p])[asked] > 0)
            kept[front++] = p;
        else
            spare[x - front] = p;
    }
    for (int64_t x = 0; x < n - front; x++)
        kept[front + x] = spare[x];
    return front;
}

#endif
