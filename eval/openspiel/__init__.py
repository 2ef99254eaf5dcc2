"""Our small games in OpenSpiel's solvers: `equilibrium`, by CFR+."""

from eval.openspiel.equilibrium import equilibrium, gambit_text, load_game

__all__ = ["equilibrium", "gambit_text", "load_game"]
