"""Arrays in files of NumPy's npz format, with plain values beside them; see `parlour.policies.files`."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.lib import format as npy
from parlour.envs.common.json_values import json_value
from parlour.policies.files import replacing

MAX_ARRAYS: Final = 2**28
"""Bytes of the arrays of one file that are read."""
_HEADERS: Final = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def write_arrays(
    path: str | Path, kind: str, meta: Mapping[str, Any], arrays: Mapping[str, Any], *, compressed: bool = False
) -> None:
    """Write arrays in NumPy's npz format, with plain values beside them as JSON under the name `kind`; replaced as a whole."""
    with replacing(path) as new, new.open("wb") as file:
        write = np.savez_compressed if compressed else np.savez
        write(file, **{kind: np.array(json.dumps(meta))}, **arrays)  # type: ignore[arg-type]


def layer_arrays(layers: Iterable[tuple[Any, Any]], before: str = "", dtype: Any = None) -> dict[str, Any]:
    """Weights and biases of layers under the names `w0`, `b0`, `w1` and so on, which begin with `before`."""
    named = (
        (f"{before}{what}{k}", array) for k, layer in enumerate(layers) for what, array in zip("wb", layer, strict=True)
    )
    return {name: np.asarray(array, dtype) for name, array in named}


def stored_kind(path: str | Path) -> str:
    """The name under which `write_arrays` stored a file's plain values. Call it within `reading`.

    Raises:
        ValueError: The names that begin with `parlour_` are none, or several.
    """
    with zipfile.ZipFile(path) as packed:
        (kind,) = (name.removesuffix(".npy") for name in packed.namelist() if name.startswith("parlour_"))
    return kind


def read_arrays(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The plain values and the arrays that `write_arrays` wrote. To be used in `reading`.

    Raises:
        ValueError: The arrays are larger than their parts of the file, or than `MAX_ARRAYS` together.
        Exception: Whatever NumPy raises for another file.
    """
    with zipfile.ZipFile(path) as packed:
        if sum(part.file_size for part in packed.infolist()) > MAX_ARRAYS:
            raise ValueError(f"arrays of more than {MAX_ARRAYS} bytes")
        arrays = {part.filename.removesuffix(".npy"): _array(packed, part) for part in packed.infolist()}
    meta = json_value(str(arrays.pop(kind)))
    if not isinstance(meta, dict):
        raise TypeError(f"{kind} is not an object")
    return meta, arrays


def _array(packed: zipfile.ZipFile, part: zipfile.ZipInfo) -> Any:
    """One array; NumPy would make room for whatever size its first bytes tell before it reads on."""
    with packed.open(part) as file:
        major, minor = npy.read_magic(file)
        if (major, minor) not in _HEADERS:
            raise ValueError("the version of an array")
        shape, _, dtype = _HEADERS[major, minor](file)
        if dtype.hasobject or math.prod(shape) * dtype.itemsize != part.file_size - file.tell():
            raise ValueError("an array that is not as large as it says")
    with packed.open(part) as file:
        return npy.read_array(file, allow_pickle=False)
