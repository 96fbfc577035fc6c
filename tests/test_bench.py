"""The programs of `bench` mean the same by hand: their gradients at the least sizes, by the reference and as written."""

import pytest

import adjudge as aj
from bench import array_gradients, gradients
from bench.by_hand import FAMILIES
from transforms.parse import parse_text

SMALL = {
    "logsumexp of an array": (4,),
    "logistic regression on arrays": (3, 2),
    "MLP 784-32-10": (1,),
    "GMM": (2, 3, 2),
    "BA": (2,),
    "RNN on arrays": (3, 2),
    "LSTM": (2,),
    "Brusselator by index": (4, 2),
    "recursive tree": (4,),
}


@pytest.mark.parametrize("name", array_gradients.FAMILIES)
def test_the_gradients_by_hand_are_gradients(name):
    family = array_gradients.FAMILIES[name]
    given = family.given(*SMALL[name])
    if family.derivative:
        found = aj.run(parse_text(family.text, family.derivative), *given)
    else:
        found = aj.grad(parse_text(family.text, "f"), family.wrt)(*given)
    array_gradients.refuse_another_derivative(name, found, family.hand(*given))


@pytest.mark.parametrize("name", FAMILIES)
def test_the_derivatives_by_hand_are_derivatives(name):
    family = FAMILIES[name]
    given = (*family.arguments, *family.turns[:1])
    gradients.refuse_another_derivative(name, aj.grad(parse_text(family.text, "f"))(*given), family.hand(*given))


@pytest.mark.parametrize("name", ["GMM", "recursive tree"])
def test_another_derivative_is_refused(name):
    family = array_gradients.FAMILIES[name]
    given = family.given(*SMALL[name])
    found = family.hand(*given)
    parts = found if isinstance(found, tuple) else (found,)
    wrong = (*parts[:-1], parts[-1] * (1.0 + 2.0**-25))
    with pytest.raises(ValueError, match=name):
        array_gradients.refuse_another_derivative(name, wrong, parts)
