import itertools

import numpy as np
import pandas as pd
import pytest

from cpx.answers.explanation import Explanation
from cpx.answers.rule import Literal, Rule
from cpx.data import Background, Binarizer, Empirical, Oracle, Uniform
from cpx.errors import InvalidOption
from cpx.models.monomial.explainers.conditions import Conditions

TABLE = pd.DataFrame(
    {
        "size": [1.0, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        "salt and pepper": [0.5, np.nan, 1.5, 2.5, 3.5, 4.5, 1.0, 2.0, np.nan, 4.0],
        "tint": list("rgbrgbrgbr"),
    }
)


@pytest.fixture
def binarizer() -> Binarizer:
    return Binarizer(n_bins=4).fit(TABLE)


def conditions(binarizer: Binarizer, row: int) -> Conditions:
    return Conditions(
        Oracle(len, TABLE.iloc[row], Empirical(Background(TABLE, binarizer))), binarizer
    )


@pytest.mark.parametrize("row", [0, 1, 4, 9])
def test_what_is_printed_is_read_back(binarizer: Binarizer, row: int) -> None:
    """Every rule of up to three conditions, in its literals and with the joined ones."""
    bits = binarizer.transform(TABLE)
    read = conditions(binarizer, row)
    agree = bits == bits[row]
    for size in range(4):
        for features in itertools.combinations(range(bits.shape[1]), size):
            covered = agree[:, list(features)].all(axis=1)
            plain = Rule.of(features, read.literals, "yes")
            for words in (plain.words, binarizer.conditions(bits[row], features)):
                found = list(read.features(" and ".join(words)))
                assert (agree[:, found].all(axis=1) == covered).all(), words
            assert read.features(plain) == features


def test_forms_of_a_rule(binarizer: Binarizer) -> None:
    read = conditions(binarizer, 0)
    text = read.literals[0]
    rule = Rule((Literal(0, text),), "yes", ("something joined",))
    for given in (text, [text], f"  {text.replace(' ', '   ')} ", 0, np.int64(0), [0], "0", ["0"],
                  rule, Explanation(rule), [Literal(0, text)], [0, text, 0]):  # fmt: skip
        assert read.features(given) == (0,), given
    assert read.features("(always)") == read.features([]) == read.features("") == ()
    assert read.features("salt and pepper is known and tint = r") == (8, 11)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("size <= 55", "unknown condition 'size <= 55'; the nearest are 'size <="),
        ("size <= 2.5 and sizee > 2", "unknown condition 'sizee > 2'; the nearest are 'size > "),
        ("zzz", "unknown condition 'zzz'$"),
        ("tint = g", "the condition 'tint = g' is false of x"),
        ("tint != r", "the condition 'tint != r' is false of x"),
        ("size > 7.5", "the condition 'size > 7.5' is false of x"),
        ("5.5 < size <= 7.5", "the condition '5.5 < size <= 7.5' is false of x"),
        ("salt and pepper is missing", "'salt and pepper is missing' is false of x"),
        ("99", "has the feature 99, indices go from 0 to 11"),
        (12, "has the feature 12, indices"),
        ([-1], "has the feature -1, indices"),
        (1.5, "must be conditions or feature indices, got 1.5"),
        ([1.5], "a condition or a feature index expected, got 1.5"),
        ([True], "a condition or a feature index expected, got True"),
        (None, "must be conditions or feature indices, got None"),
        (Rule((Literal(0, "size <= 5"),)), "the rule has 'size <= 5': it was made for another"),
    ],
)
def test_refused(binarizer: Binarizer, given: object, message: str) -> None:
    with pytest.raises(InvalidOption, match=message) as caught:
        conditions(binarizer, 0).features(given, "required")
    assert str(caught.value).startswith("required")


def test_without_a_binarizer() -> None:
    read = Conditions(Oracle(len, [1, 1], Uniform(2, ["a", "not a"])))
    assert read.features("a and not a") == (0, 1)
    with pytest.raises(InvalidOption, match="'not not a' is false"):
        read.features("not not a")
