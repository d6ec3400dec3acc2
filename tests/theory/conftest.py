"""The tests of the theory build their plans with the helpers of the engine's tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))
