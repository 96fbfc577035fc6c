"""
What long work has found, kept as it is made: a file of SQLite with a record of JSON for each key.

Every record is written at once and whole, so that work which is interrupted goes on where it stopped; several processes may write
to one file. Keys are plain texts; what they mean, and what a record holds, is the business of whoever writes them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from semantics.errors import Malformed

Record: TypeAlias = dict[str, Any]
MARK = 0x61646A67
"""The application id in the header of our files: "adjg"."""
LAYOUT = 1
PATIENCE = 60.0
"""Seconds to wait while another process writes."""
TABLE = "CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, record TEXT NOT NULL, written TEXT NOT NULL) WITHOUT ROWID"


class Store:
    """
    The records of a file, by key. The file is made when it is not there.

    Malformed if the file is no store of ours, is damaged, or cannot be written; it is then left as it was.
    """

    def __init__(self, path: Path | str, *, make: bool = True) -> None:
        self.path = Path(path)
        if not make and not self.path.is_file():
            raise Malformed(f"there is no file {self.path}", remedy="adjudge sweep LIBRARY --store FILE makes one")
        if not self.path.parent.is_dir():
            raise Malformed(f"there is no folder {self.path.parent}", remedy="name a file in a folder that is there")
        try:
            self._file = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
            self._check()
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def _check(self) -> None:
        """Marks a new file as ours; Malformed for one that is not, or that a later version wrote."""
        mark, layout = (self._file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        foreign = mark != MARK and self._file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if foreign or (mark == MARK and layout != LAYOUT):
            self._file.close()
            what = f"has layout {layout}, not {LAYOUT}" if not foreign else "is a database of something else"
            raise Malformed(f"{self.path} {what}", remedy="name another file; this one was not changed")
        if mark != MARK:
            self._file.execute(f"PRAGMA application_id = {MARK}")
            self._file.execute(f"PRAGMA user_version = {LAYOUT}")
        self._file.execute(TABLE)
        damage = self._file.execute("PRAGMA quick_check(1)").fetchone()[0]
        if damage != "ok":
            raise sqlite3.DatabaseError(damage)

    def _unreadable(self, error: sqlite3.Error) -> Malformed:
        remedy = "move it away, or name another file; nothing in it was changed"
        return Malformed(f"{self.path} cannot be used as a store: {error}", remedy=remedy)

    def get(self, key: str) -> Record | None:
        """The record of a key, or None."""
        found = self._ask("SELECT record FROM records WHERE key = ?", key)
        return json.loads(found[0][0]) if found else None

    def put(self, key: str, record: Mapping[str, Any]) -> None:
        """Keeps a record in the place of what the key had; on return it is in the file."""
        written = datetime.now(UTC).isoformat(timespec="seconds")
        text = json.dumps(record)
        self._ask("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", key, text, written)

    def items(self) -> Iterator[tuple[str, Record, str]]:
        """All keys in order, each with its record and when it was written (UTC, ISO 8601)."""
        for key, record, written in self._ask("SELECT key, record, written FROM records ORDER BY key"):
            yield key, json.loads(record), written

    def _ask(self, question: str, *values: str) -> list[tuple[str, ...]]:
        try:
            return self._file.execute(question, values).fetchall()
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
