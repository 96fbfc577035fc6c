"""
Machine code of kernels without a GPU: PTX through the assembler of the CUDA toolkit, and which instructions came out.

A fused multiply-add rounds once where the reference rounds twice. PTX does not show all of them, since the assembler fuses what has
no rounding mode; so they are counted in machine code. An instruction has 16 bytes, and the lowest nine bits say which it is, from
compute capability 7.0 on.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from semantics.errors import IllTyped

OPERATIONS = {0x02B: "DFMA", 0x028: "DMUL", 0x029: "DADD"}
FOLDERS = ("CUDA_HOME", "CUDA_PATH")


def assembler() -> str:
    """Where ptxas is: on the path, or with the toolkit; "" where it is not."""
    places = [Path(os.environ[name]) for name in FOLDERS if name in os.environ] + [Path("/usr/local/cuda")]
    found = shutil.which("ptxas") or next((str(p / "bin/ptxas") for p in places if (p / "bin/ptxas").exists()), "")
    return found


def machine_code(ptx: str) -> bytes:
    """The cubin of PTX for the GPU that it names. IllTyped with the assembler's words where it does not take it."""
    target = re.search(r"^\.target (sm_\w+)", ptx, re.MULTILINE)
    if not assembler() or target is None:
        raise IllTyped("no machine code here: ptxas is not installed", rule="backend", remedy="install a CUDA toolkit")
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        command = [assembler(), f"-arch={target[1]}", str(source), "-o", str(result)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise IllTyped(f"ptxas refuses the kernel: {done.stderr.strip()}", rule="backend", remedy="another CUDA toolkit")
        return result.read_bytes()


def operations(cubin: bytes) -> Counter[str]:
    """How many of each of the OPERATIONS there are in the machine code of a cubin."""
    found: Counter[str] = Counter()
    for start, size in _code(cubin):
        for at in range(start, start + size, 16):
            (word,) = struct.unpack_from("<H", cubin, at)
            if name := OPERATIONS.get(word & 0x1FF):
                found[name] += 1
    return found


def _code(cubin: bytes) -> list[tuple[int, int]]:
    """Where the sections .text of an ELF file of 64 bits are, and how long."""
    (headers,) = struct.unpack_from("<Q", cubin, 0x28)
    width, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", cubin, headers + k * width) for k in range(count)]
    texts = sections[names][4]
    return [(s[4], s[5]) for s in sections if cubin[texts + s[0] :].startswith(b".text")]
