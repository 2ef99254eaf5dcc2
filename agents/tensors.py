"""Tensors in safetensors files: checked by their header, read, and refused by name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load

from .files import MOST_BYTES, conform, parse_json, read_file, shown

Array = npt.NDArray[Any]
MOST_HEADER = 4 << 20
"""Bytes of a header: names, shapes and metadata."""
_TENSOR = {"dtype": str, "shape": [int], "data_offsets": [int]}


def read_tensors(
    path: Path, dtypes: Sequence[str] = ("F32",), most: int = MOST_BYTES
) -> tuple[dict[str, Array], dict[str, str]]:
    """The tensors of a file by name, and its metadata.

    Args:
        path: Of the file.
        dtypes: What they may be, in the words of safetensors.
        most: The largest file that is read, in bytes.

    Raises:
        ValueError: The file cannot be read or is no safetensors file; or a tensor, which is named,
            is of another type.
    """
    content = read_file(path, most)
    try:
        header = _read_header(content)
        metadata = header.pop("__metadata__", {})
        for name, told in header.items():
            if told["dtype"] not in dtypes:
                wanted = " or ".join(dtypes)
                raise ValueError(f"has tensor {shown(name)} as {told['dtype']}, not {wanted}")
        return load(content), metadata
    except SafetensorError as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path} is not a safetensors file: {reason}") from None
    except ValueError as error:
        raise ValueError(f"{path} {error}") from None


def _read_header(content: bytes) -> dict[str, Any]:
    """What each tensor is, and the metadata."""
    length = int.from_bytes(content[:8], "little")
    if not 0 < length <= min(len(content) - 8, MOST_HEADER):
        raise ValueError("is not a safetensors file; no other kind is opened")
    try:
        header = parse_json(content[8 : 8 + length].decode("utf-8"))
        conform(header, dict, "the header")
        for name, told in header.items():
            if name == "__metadata__":
                conform(list(told.values()) if isinstance(told, dict) else told, [str], name)
                continue
            conform(told, _TENSOR, f"tensor {shown(name)}")
            if max(told["shape"], default=0) > len(content):  # NumPy refuses some without a value
                raise ValueError(f"tensor {shown(name)} has shape {shown(told['shape'])}")
    except ValueError as error:
        raise ValueError(f"is not a safetensors file: {error}") from None
    return header  # type: ignore[no-any-return]
