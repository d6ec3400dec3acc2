"""The colours by which figures and pages tell contenders apart.

They are those of Okabe and Ito, "Color Universal Design" (2008), distinguishable with any colour vision; the yellow is
left out because it is hardly visible on white.
"""

from __future__ import annotations

LINE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
