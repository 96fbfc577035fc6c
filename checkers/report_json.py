"""
Reports as JSON, and back: `from_json(to_json(report))` says what `report` says. Schema 1:

    schema, subject, verdict, counts, seed, details, ledger: [{check, seconds, skipped}], plots: [...], verdicts: [...]

    a verdict  {verdict, claim, summary} with the fields of its kind: Proved by; Passed n, what; Unknown reason; Vacuous why;
               OutOfScope why; Refuted kind, inputs, found, wanted, cause, note, script, plots, and exact: {inputs, found, wanted}
    a plot     {kind, title, across, up, xs, found, lo, hi, at, note}

`inputs`, `found` and `wanted` are for readers; under `exact`, and in `details`, values are written so as to read back bit for bit:

    null, true, 3, "text", [lists], {dictionaries}                themselves
    {"$float": "0x1.8p+0", "decimal": 1.5}                        a double
    {"$array": "float64", "shape": [2, 3], "order": "C",          an array; "order" is how it lay in memory, C or F;
     "hex": [...], "decimal": [...]}                              "elements" in place of both if they are not floats,
                                                                  "bytes" (base64, little endian) if they are many
    {"$scalar": "float32", "value": ...}                          a NumPy scalar
    {"$tuple": [...]}  {"$dict": [[key, value]...]}  {"$int": "12345678901234567890"}  {"$fraction": "1/3"}  {"$complex": [re, im]}
    {"$text": "as it prints", "type": "Program"}                  anything else: read back as text

NaN and the infinities, which JSON has no numbers for, are the strings "NaN", "Infinity" and "-Infinity". Elsewhere numbers are the
shortest decimals that read back as the same doubles.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np

from checkers.plots import Plot
from checkers.showing import exactly
from checkers.verdict import ORDER, Counterexample, LedgerEntry, Refuted, Report, Verdict, summary
from semantics.errors import Malformed

SCHEMA = 1
MANY = 1000
SAFE = 2**53
WIDEST = {"f": 8, "c": 16}
"""Bytes of the widest floats that doubles hold; wider ones are read back as text."""
SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
KINDS = {kind.__name__: kind for kind in ORDER}
SERIES = ("xs", "found", "lo", "hi")


@dataclass(frozen=True, slots=True)
class Printed:
    """What is left of a value that JSON has no form for: how it printed."""

    text: str
    type: str

    def __repr__(self) -> str:
        return self.text


# reports


def to_json(report: Report) -> str:
    """The report as JSON that any strict reader reads."""
    written = {
        "schema": SCHEMA,
        "subject": report.subject,
        "verdict": type(report.verdict).__name__,
        "counts": report.counts(),
        "seed": report.seed,
        "details": encode(report.details),
        "verdicts": [_verdict(v) for v in report.verdicts],
        "ledger": [{"check": e.check, "seconds": e.seconds, "skipped": e.skipped} for e in report.ledger],
        "plots": [_plot(p) for p in report.plots],
    }
    return json.dumps(written, indent=1, allow_nan=False)


def from_json(text: str) -> Report:
    """The report that `to_json` wrote. Malformed if it did not."""
    remedy = "a report as `report.to_json()` writes it; of what `adjudge check --json` prints, one of the list"
    try:
        read = json.loads(text)
        if not isinstance(read, dict) or read.get("schema") != SCHEMA:
            raise Malformed(f"this is no report of schema {SCHEMA}", rule="from_json", remedy=remedy)
        verdicts = tuple(_read_verdict(v) for v in read["verdicts"])
        ledger = tuple(LedgerEntry(e["check"], e["seconds"], e["skipped"]) for e in read["ledger"])
        plots = tuple(map(_read_plot, read["plots"]))
        return Report(read["subject"], verdicts, ledger, read["seed"], decode(read["details"]), plots)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Malformed(f"this is no report: {type(error).__name__}: {error}", rule="from_json", remedy=remedy) from None


def _verdict(verdict: Verdict) -> dict[str, Any]:
    entry: dict[str, Any] = {"verdict": type(verdict).__name__, "claim": verdict.claim, "summary": summary(verdict)}
    if not isinstance(verdict, Refuted):
        return entry | {f.name: getattr(verdict, f.name) for f in fields(verdict)}
    c = verdict.counterexample
    shown = {"inputs": {k: exactly(v) for k, v in c.inputs.items()}, "found": exactly(c.found), "wanted": exactly(c.wanted)}
    exact = {"inputs": [[k, encode(v)] for k, v in c.inputs.items()], "found": encode(c.found), "wanted": encode(c.wanted)}
    said = {"cause": c.cause, "note": c.note, "script": c.script}
    return entry | {"kind": verdict.kind} | shown | said | {"exact": exact, "plots": [_plot(p) for p in c.plots]}


def _read_verdict(entry: dict[str, Any]) -> Verdict:
    kind = KINDS[entry["verdict"]]
    if kind is not Refuted:
        return kind(**{f.name: entry[f.name] for f in fields(kind)})
    exact = entry["exact"]
    inputs = {k: decode(v) for k, v in exact["inputs"]}
    said = (entry["cause"], entry["script"], entry["note"], tuple(map(_read_plot, entry["plots"])))
    return Refuted(Counterexample(inputs, decode(exact["found"]), decode(exact["wanted"]), *said), entry["kind"], entry["claim"])


def _plot(plot: Plot) -> dict[str, Any]:
    named = {f.name: getattr(plot, f.name) for f in fields(plot)}
    return named | {name: list(map(_number, named[name])) for name in SERIES} | {"at": _number(plot.at)}


def _read_plot(entry: dict[str, Any]) -> Plot:
    series = {name: tuple(map(_read_number, entry[name])) for name in SERIES}
    return Plot(**(entry | series | {"at": _read_number(entry["at"])}))


# values


def encode(value: Any) -> Any:
    """A value in JSON's terms, as the module says."""
    match value:
        case None | bool() | str():
            return value
        case np.ndarray():
            return _array(value)
        case np.generic():
            item = value.item()
            return _printed(value) if isinstance(item, np.generic) else {"$scalar": str(value.dtype), "value": encode(item)}
        case int():
            return value if abs(value) < SAFE else {"$int": str(value)}
        case float():
            return {"$float": value.hex(), "decimal": _number(value)}
        case complex():
            return {"$complex": [encode(value.real), encode(value.imag)]}
        case Fraction():
            return {"$fraction": str(value)}
        case list():
            return [encode(v) for v in value]
        case tuple():
            return {"$tuple": [encode(v) for v in value]}
        case dict() if all(isinstance(k, str) and not k.startswith("$") for k in value):
            return {k: encode(v) for k, v in value.items()}
        case dict():
            return {"$dict": [[encode(k), encode(v)] for k, v in value.items()]}
        case Printed(text, name):
            return {"$text": text, "type": name}
    return _printed(value)


def _printed(value: Any) -> dict[str, Any]:
    return {"$text": str(value), "type": type(value).__name__}


def decode(value: Any) -> Any:
    """The value that `encode` wrote."""
    match value:
        case list():
            return [decode(v) for v in value]
        case {"$float": text}:
            return float.fromhex(text)
        case {"$array": _}:
            return _read_array(value)
        case {"$scalar": dtype, "value": item}:
            return np.dtype(dtype).type(decode(item))
        case {"$int": text}:
            return int(text)
        case {"$complex": [real, imaginary]}:
            return complex(decode(real), decode(imaginary))
        case {"$fraction": text}:
            return Fraction(text)
        case {"$tuple": items}:
            return tuple(map(decode, items))
        case {"$dict": items}:
            return {decode(k): decode(v) for k, v in items}
        case {"$text": text, "type": name}:
            return Printed(text, name)
        case dict():
            return {k: decode(v) for k, v in value.items()}
    return value


def _array(value: np.ndarray[Any, Any]) -> dict[str, Any]:
    """An array: floats in hex and decimal, many numbers as bytes, anything else element by element."""
    kind, order = value.dtype.kind, "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
    flat = value.ravel(order="C")
    written: dict[str, Any] = {"$array": str(value.dtype.newbyteorder("=")), "shape": list(value.shape), "order": order}
    if kind not in "biufcOUS" or value.dtype.itemsize > WIDEST.get(kind, math.inf):
        return _printed(value)
    if kind in "biufc" and value.size > MANY:
        return written | {"bytes": base64.b64encode(flat.astype(value.dtype.newbyteorder("<")).tobytes()).decode("ascii")}
    if kind == "f":
        numbers = [float(v) for v in flat]
        return written | {"hex": [v.hex() for v in numbers], "decimal": list(map(_number, numbers))}
    if kind in "bi":
        return written | {"elements": [encode(v.item()) for v in flat]}
    return written | {"elements": [encode(v) for v in flat]}


def _read_array(entry: dict[str, Any]) -> np.ndarray[Any, Any]:
    dtype = np.dtype(entry["$array"])
    if "bytes" in entry:
        flat = np.frombuffer(base64.b64decode(entry["bytes"]), dtype.newbyteorder("<")).astype(dtype)
    else:
        elements = list(map(float.fromhex, entry["hex"])) if "hex" in entry else list(map(decode, entry["elements"]))
        flat = np.empty(len(elements), dtype)
        for k, element in enumerate(elements):
            flat[k] = element
    return np.array(flat.reshape(entry["shape"]), order=entry["order"])


def _number(x: float) -> float | str:
    """A number, or the name of one that JSON does not have."""
    return x if math.isfinite(x) else "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"


def _read_number(x: float | str) -> float:
    return SPECIAL[x] if isinstance(x, str) else float(x)


__all__: Sequence[str] = ("SCHEMA", "Printed", "decode", "encode", "from_json", "to_json")
