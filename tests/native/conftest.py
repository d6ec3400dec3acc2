"""The tests of the native code build their plans with the helpers of the strategies' and the engine's tests."""

import sys
from pathlib import Path

for folder in ("strategy", "engine"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))
