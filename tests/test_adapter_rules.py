"""Rules of other frameworks: what is recognised, and what a file has to judge; on planted types, without a framework."""

from __future__ import annotations

import functools
import sys
import types

import numpy as np
import pytest

from adjudge.adapters import black_boxes, frameworks
from adjudge.adapters.foreign import answers, parameters_of
from adjudge.judged import primitives_in
from semantics.errors import IllTyped, Malformed


class CustomVjp:
    """Like `jax.custom_vjp`: an object that is called, and takes the module of what it decorates."""

    nondiff_argnums = ()

    def __init__(self, fun):
        self.fun, self.__module__ = fun, fun.__module__

    def __call__(self, *arguments):
        return self.fun(*arguments)


CustomVjp.__name__, CustomVjp.__module__ = "custom_vjp", "jax._src.custom_derivatives"


def traced(x):
    return x


traced.fun, traced._is_autograd_primitive, traced.__module__ = types.SimpleNamespace(__module__="planted"), True, "autograd.tracer"


def of_module(name, function):
    function.__module__ = name
    return function


apply = classmethod(of_module("torch.autograd.function", lambda cls, x: x))
Function = type("Function", (), {"__module__": "torch.autograd.function", "apply": apply})
Square = type("Square", (Function,), {"__module__": "planted"})


@CustomVjp
def square(x):
    return x * x


OBJECTS = {
    "a custom_vjp": (square, "jax", True),
    "a subclass of Function": (Square, "torch", True),
    "its apply": (Square.apply, "torch", False),
    "a primitive of autograd": (traced, "autograd", True),
    "a function of jax.numpy": (of_module("jax.numpy", lambda x: x), "jax", False),
    "a partial of it": (functools.partial(of_module("jaxlib", lambda x, y: x), 1.0), "jax", False),
    "a function of torch": (of_module("torch._C._special", lambda x: x), "torch", False),
    "a function of NumPy": (np.exp, "", False),
    "a function of ours": (lambda x: x, "", False),
    "a number": (2.0, "", False),
    "a package that begins alike": (of_module("jaxtyping.functions", lambda x: x), "", False),
    "a class": (dict, "", False),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_is_recognised_by_its_modules(name):
    x, framework, rule = OBJECTS[name]
    assert (frameworks.recognised(x), frameworks.is_rule(x)) == (framework, rule)


def test_recognition_imports_no_framework():
    before = set(sys.modules)
    for x, _, _ in OBJECTS.values():
        frameworks.recognised(x)
    assert not {m for m in set(sys.modules) - before if m.partition(".")[0] in frameworks.PACKAGES}


def test_a_marked_function_is_of_its_framework():
    assert frameworks.recognised(frameworks.of_framework(lambda x: x, "torch")) == "torch"
    with pytest.raises(Malformed) as unknown:
        frameworks.of_framework(lambda x: x, "tensorflow")
    assert "jax, torch, autograd" in unknown.value.remedy
    with pytest.raises(IllTyped):
        frameworks.of_framework(2.0, "jax")


def planted(**names):
    module = types.ModuleType("planted")
    vars(module).update(names)
    return module


def rule(module="planted"):
    return CustomVjp(of_module(module, lambda x: x * x))


def test_a_file_has_the_rules_that_it_defines_and_those_of_its_table():
    mine, imported = rule(), rule("jax.nn")
    file = planted(mine=mine, again=mine, imported=imported, Square=Square, traced=traced, helper=lambda x: x)
    assert set(primitives_in(file)) == {"mine", "Square", "traced"}
    file.ADJUDGE = {"imported": {"samples": [(1.0,)]}, "again": {}, "helper": {"framework": "jax", "fixed": (0,)}}
    found = primitives_in(file)
    assert set(found) == {"mine", "again", "imported", "Square", "traced", "helper"}
    assert found["imported"].options == {"samples": [(1.0,)]}
    assert found["helper"].options == {"fixed": (0,)}
    assert frameworks.recognised(found["helper"].value) == "jax"


BAD_TABLES = {
    "a name that is not there": ({"nobody": {}}, "nobody"),
    "an option that is not there": ({"mine": {"sample": []}}, "sample"),
    "no table": ([("mine", {})], "table"),
    "samples where options belong": ({"mine": [(1.0,)]}, "table"),
    "a framework that is not there": ({"mine": {"framework": "tensorflow"}}, "tensorflow"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_bad_table_is_malformed_and_says_what_to_write(name):
    table, said = BAD_TABLES[name]
    with pytest.raises(Malformed) as caught:
        primitives_in(planted(mine=rule(), ADJUDGE=table))
    assert said in caught.value.what
    assert caught.value.remedy


@pytest.mark.parametrize("framework", frameworks.FRAMEWORKS)
def test_without_the_package_the_extra_is_named(framework, monkeypatch):
    for name in [m for m in sys.modules if m.partition(".")[0] == framework]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, framework, None)
    with pytest.raises(Malformed) as caught:
        black_boxes.trial_of(frameworks.of_framework(lambda x: x, framework), [(1.0,)])
    assert caught.value.remedy == f"pip install 'adjudge[{framework}]'"


def test_what_is_of_no_framework_is_refused_with_what_to_say():
    with pytest.raises(Malformed) as caught:
        black_boxes.trial_of(np.exp)
    assert "framework=" in caught.value.remedy


@pytest.mark.parametrize("samples", [[], 2.0, [[1.0, 2.0]], [(1.0,), (1.0, 2.0)]], ids=repr)
def test_samples_that_are_no_tuples_of_arguments_are_malformed(samples):
    with pytest.raises(Malformed) as caught:
        black_boxes.listed(samples)
    assert caught.value.remedy


def test_a_value_alone_is_one_argument():
    assert black_boxes.listed([2.0, (3.0,)]) == [(2.0,), (3.0,)]


def test_cotangents_stand_in_the_places_of_the_leaves():
    a, b = np.ones(2), np.zeros(3)
    assert answers((a, 3, (b, 2.0), 5.0), frozenset({3}), ["da", "db", 7]) == ("da", None, ("db", 7.0), None)


def test_parameters_are_those_that_must_be_given():
    assert parameters_of(lambda x, y, axis=None, *, keepdims=False: x) == ("x", "y")
    assert parameters_of(lambda *xs: xs) == ()
    assert parameters_of(lambda ctx, x: x, 1) == ("x",)
    assert parameters_of(dict) == ()
