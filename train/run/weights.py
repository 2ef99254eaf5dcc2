"""A network and the moments of its optimizer as arrays by name, and back."""

from typing import Any

import numpy.typing as npt
import torch

Array = npt.NDArray[Any]


def weight_arrays(network: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Array]:
    """All that a run has learned so far, not copied."""
    arrays = {f"network.{name}": own.numpy(force=True) for name, own in _weights(network).items()}
    for index, moments in optimizer.state_dict()["state"].items():
        for name, values in moments.items():
            arrays[f"optimizer.{index}.{name}"] = values.numpy(force=True)
    return arrays


def restore_weights(
    network: torch.nn.Module, optimizer: torch.optim.Optimizer, arrays: dict[str, Array]
) -> None:
    """Puts back what `weight_arrays` gave; other arrays are passed over.

    Raises:
        ValueError: They are of another network.
    """
    own, saved = _weights(network), _tensors(arrays, "network.")
    shapes = [{name: each.shape for name, each in those.items()} for those in (own, saved)]
    if shapes[0] != shapes[1]:
        raise ValueError("the checkpoint is of another network than the settings describe")
    with torch.no_grad():
        for name, place in own.items():
            place.copy_(saved[name])
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name, values in _tensors(arrays, "optimizer.").items():
        index, _, moment = name.partition(".")
        shaped = values.reshape(()) if moment == "step" else values
        moments.setdefault(int(index), {})[moment] = shaped
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": moments, "param_groups": groups})


def _weights(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers, each once, whatever other names it has."""
    return dict([*network.named_parameters(), *network.named_buffers()])


def _tensors(arrays: dict[str, Array], prefix: str) -> dict[str, torch.Tensor]:
    return {
        name.removeprefix(prefix): torch.from_numpy(values)
        for name, values in arrays.items()
        if name.startswith(prefix)
    }
