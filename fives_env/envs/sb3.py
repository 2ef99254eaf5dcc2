"""`Sb3VecEnv`: the native vector env as the `VecEnv` that Stable-Baselines3 expects.

The two conventions differ in where they put things, not in what they do: SB3 has one `done` flag,
keeps the last observation of an episode in the info of its env, and asks for masks with
``env_method("action_masks")``. Here that answers with one array [N, 114] for all envs.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fives_env.envs.vector import FivesVectorEnv
from fives_env.extras import missing

try:
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn
except ModuleNotFoundError:
    raise missing("Stable-Baselines3", "sb3") from None

Array = npt.NDArray[Any]
MASKS = "action_masks"


class Sb3VecEnv(VecEnv):
    """Steps a `FivesVectorEnv` for SB3 (extra ``sb3``).

    Seeds and options are those of SB3: ``seed(s)`` gives env i the seed s + i at the next `reset`
    (what `DummyVecEnv` of as many single envs does), and `set_options` takes one dict for all.
    The info of an env is empty but in the step that ends its episode; what the vector env reports
    beside the mask is in the attribute `infos`, as arrays.

    Attributes:
        envs: The vector env.
        infos: Its infos of the last reset or step: a dict of arrays.
    """

    def __init__(self, envs: FivesVectorEnv) -> None:
        """Takes the vector env over."""
        self.envs = envs
        self.infos: dict[str, Any] = {}
        self._actions: Array = np.zeros(0, np.int64)
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> Array:
        """Starts an episode in every env: float32 [N, F]."""
        given = [seed for seed in self._seeds if seed is not None]
        seeds = given if len(given) == self.num_envs else None
        observations, self.infos = self.envs.reset(seed=seeds, options=self._one_set_of_options())
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: Array) -> None:
        """Keeps the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Plays them: observations, float32 rewards, dones, one info an env."""
        observations, rewards, terminated, truncated, self.infos = self.envs.step(self._actions)
        dones = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for index in np.flatnonzero(dones):
            infos[index] = {
                "terminal_observation": self.infos["final_obs"][index],
                "TimeLimit.truncated": bool(truncated[index] and not terminated[index]),
            }
        return observations, rewards.astype(np.float32), dones, infos

    def close(self) -> None:
        """Closes the vector env."""
        self.envs.close()

    def has_attr(self, attr_name: str) -> bool:
        """Whether the vector env has this attribute."""
        return hasattr(self.envs, attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """The attribute of the vector env, which its rows share, once for each env asked for."""
        value = getattr(self.envs, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Sets an attribute of all envs; they are one object.

        Raises:
            ValueError: Only some of the envs are meant.
        """
        if len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError(f"{attr_name} can be set for all envs only: they are one batch")
        setattr(self.envs, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> Any:
        """``action_masks``: bool [N, 114], or the rows asked for.

        Raises:
            AttributeError: Any other method; a batch has none that belong to one env.
        """
        if method_name != MASKS:
            raise AttributeError(f"a batch of envs answers {MASKS!r} only, not {method_name!r}")
        masks = self.envs.action_masks()
        return masks if indices is None else masks[list(self._get_indices(indices))]

    def env_is_wrapped(self, wrapper_class: type, indices: VecEnvIndices = None) -> list[bool]:
        """No env is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Array | None]:
        """There are none; ``render_mode="ansi"`` gives text."""
        return [None] * self.num_envs

    def _one_set_of_options(self) -> dict[str, Any]:
        options = self._options[0]
        if any(other != options for other in self._options):
            raise ValueError("options can be set for all envs only: give set_options one dict")
        return options
