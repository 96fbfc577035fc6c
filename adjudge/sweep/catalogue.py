"""
What a library exports, and how each function is called: discovered = judged + left out, and what is left out has a reason.

A function is called as the table of its library says, under the longest end of its dotted name that the table has; else as COMMON
says; else as GUESSES say, in order, until one can be judged. What cannot be judged is left out: by the library's list of reasons
here, or by the worker, which tries.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from adjudge.sweep.calls import Call, call, table
from checkers.verdict import Report
from semantics.errors import Malformed

COMMON = table("""
sin cos tan sinh cosh tanh arcsinh asinh arctan atan exp exp2 expm1 square negative neg positive sinc cbrt : x
abs absolute fabs sign floor ceil round rint trunc fix deg2rad rad2deg radians degrees real imag conj conjugate : x
log log2 log10 log1p sqrt rsqrt reciprocal gammaln lgamma digamma psi gamma : p
arcsin asin arccos acos arctanh atanh erfinv : s
arccosh acosh : g
logit ndtri : u
add subtract multiply maximum minimum fmax fmin logaddexp logaddexp2 hypot heaviside : x, y | x, y3 | x, a
divide true_divide : x, p | x3, p23
power float_power pow : p, y | p, 3.0 | x, 2.0
arctan2 atan2 : x, y | x, p3
fmod mod remainder copysign nextafter ldexp : x, p
xlogy xlog1py rel_entr kl_div : p, q
zeta : g, p
polygamma : 1, p
betaln beta : p, q
erf erfc erfcx expit logsumexp ndtr log_ndtr entr i0 i0e i1 i1e j0 j1 : x
cumsum nancumsum : x, axis=0 | x, axis=1
cumprod nancumprod : x, axis=0 | k, axis=1
dot inner : x3, y3 | x, y43
matmul : x, y34 | x3, y34 | x223, y34
outer kron : x3, y4
vdot : x3, y3
cross : x, y
einsum : 'ij,jk->ik', x, y34 | 'ii->i', A | 'bij,bjk->bk', x223, y234 | 'ij->', x
tensordot : x, y34, 1
where : np.array([[True, False, True], [False, True, False]]), x, y
diff : x | x, 1
sort : x | k
clip : x, -0.5, 1.5
softmax log_softmax : x
inv det slogdet matrix_exp expm trace diag diagonal pinv logdet : A
solve lstsq : A, y3
cholesky : A @ A.T
eigh eigvalsh : A + A.T
eig eigvals svdvals svd qr : A
norm : x | x3
multi_dot : [x, y34, z43]
""")
GUESSES = tuple(map(call, ("x", "p", "u", "x, y", "p, q", "s", "A", "A, B", "x3", "x3, y3", "x, 1", "[x, y]", "x, y34")))
"""No guess has an array more than a function needs: it might be taken for the place of the result, and written to."""

_FALSE, _FILES, _SETTINGS = "answers true or false", "reads or writes files", "tells or changes settings"
LEFT_OUT = {
    **dict.fromkeys(("is_*", "isclose", "isfinite", "isinf", "isnan", "isnat", "isneginf", "isposinf", "isin"), _FALSE),
    **dict.fromkeys(("isreal*", "iscomplex*", "isscalar", "issub*", "isdtype", "isfortran", "*equal*", "allclose"), _FALSE),
    **dict.fromkeys(("less*", "greater*", "logical_*", "bitwise_*", "signbit", "all", "any"), _FALSE),
    **dict.fromkeys(("save*", "load*", "fromfile", "genfromtxt", "*txt", "memmap", "from_file"), _FILES),
    **dict.fromkeys(("set_*", "get_*", "*printoptions", "seterr*", "geterr*", "getbufsize", "setbufsize", "show_*"), _SETTINGS),
    **dict.fromkeys(("arg*", "nanarg*", "searchsorted", "digitize", "nonzero", "flatnonzero"), "answers positions"),
    **dict.fromkeys(("histogram*", "histc", "count_*", "bitcount"), "answers counts"),
    "empty*": "its values are not defined",
    "rand*": "random",
}
"""What no library needs to be asked about."""


@dataclass(frozen=True, slots=True)
class Library:
    """
    A library that can be swept.

    modules   whose public functions are judged        table   how they are called        names   what calls may name beside
    left_out  patterns of names that are not tried, beside LEFT_OUT, each with the reason
    trial     (function, samples, *, seed, examples, domain, name) -> Trial; judge  (trial, seed, skip) -> Report
    """

    name: str
    modules: tuple[str, ...]
    table: Mapping[str, tuple[Call, ...]] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    trial: Callable[..., Any] | None = None
    judge: Callable[..., Report] | None = None

    @property
    def package(self) -> str:
        return self.modules[0].partition(".")[0]

    @property
    def version(self) -> str:
        """The version that is installed; Malformed if none is."""
        return _version(self.package)

    def namespace(self) -> dict[str, Any]:
        """The modules that calls may name."""
        return {short: importlib.import_module(name) for short, name in self.names.items()}

    def calls(self, function: str) -> tuple[Call, ...]:
        """How a function is called; empty if no table says."""
        parts = function.split(".")
        for known in (self.table, COMMON):
            for start in range(len(parts)):
                if (end := ".".join(parts[start:])) in known:
                    return known[end]
        return ()


def _version(package: str) -> str:
    try:
        module = importlib.import_module(package)
    except ImportError as error:
        raise Malformed(f"{package} is not installed", rule="sweep", remedy=f"pip install 'adjudge[{package}]'") from error
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(module, "__version__", "unknown"))


def _module(name: str) -> types.ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise Malformed(f"{name} cannot be imported: {error}", rule="sweep", remedy=f"pip install 'adjudge[{package}]'") from error


def library(name: str) -> Library:
    """
    The library of a name: jax, torch, autograd, or MODULE:NAME of a Library of your own. Malformed if there is none.
    """
    if name in KNOWN:
        return importlib.import_module(f"adjudge.sweep.{name}_table").LIBRARY
    module, colon, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute) if colon and module and attribute else None
    except (ImportError, AttributeError) as error:
        raise Malformed(f"there is no library {name}: {error}", rule="sweep", remedy=REMEDY) from error
    if not isinstance(found, Library):
        raise Malformed(f"there is no library {name}", rule="sweep", remedy=REMEDY)
    return found


KNOWN = ("jax", "torch", "autograd")
REMEDY = f"one of {', '.join(KNOWN)}, or MODULE:NAME of an adjudge.sweep.catalogue.Library"


@dataclass(frozen=True, slots=True)
class Discovered:
    """What the modules export: functions to try, and names that are left out without trying, with the reason."""

    functions: tuple[str, ...]
    left_out: Mapping[str, str]


def discovered(lib: Library) -> Discovered:
    """
    Every public callable of the modules, under its dotted name, once: an object with several names under that which it calls
    itself, in the first module that has it.
    """
    left_out: dict[str, str] = {}
    names: dict[int, list[str]] = {}
    for module_name in lib.modules:
        module = _module(module_name)
        for name in sorted(n for n in dir(module) if not n.startswith("_")):
            value, full = getattr(module, name, None), f"{module_name}.{name}"
            if not callable(value) or isinstance(value, types.ModuleType):
                continue
            if reason := _reason(lib, name, value):
                left_out[full] = reason
            else:
                names.setdefault(id(value), []).append(full)
    functions = []
    for alike in names.values():
        own = getattr(resolve(alike[0]), "__name__", "")
        chosen = next((n for n in alike if n.rpartition(".")[2] == own), alike[0])
        functions.append(chosen)
        left_out.update({n: f"the same as {chosen}" for n in alike if n != chosen})
    return Discovered(tuple(functions), left_out)


def _reason(lib: Library, name: str, value: Any) -> str:
    """Why a callable is not tried, or nothing."""
    if isinstance(value, type):
        return "a class"
    patterns = {**lib.left_out, **LEFT_OUT}
    return next((reason for pattern, reason in patterns.items() if fnmatchcase(name, pattern)), "")


def resolve(function: str) -> Any:
    """The object of a dotted name."""
    module, _, name = function.rpartition(".")
    return getattr(importlib.import_module(module), name)
