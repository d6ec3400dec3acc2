"""Checks of what a study asks of its scores, what it says of them, and what was tried for them."""

from __future__ import annotations

from collections.abc import Collection

from numasim.errors import InputError
from numasim.parts.validation import placed
from numasim.reproduce.published_quantities import QUANTITIES
from numasim.reproduce.score.metrics import METRICS
from numasim.reproduce.score.questions import QUESTIONS
from numasim.reproduce.score.score_places import PARTS, places
from numasim.reproduce.score.single_prediction import MEANS
from numasim.reproduce.study.contents import Study
from numasim.reproduce.study.names import check_names
from numasim.reproduce.study.study_files import ElsewhereSpec


def check_scores(study: Study) -> None:
    """Raise `InputError` for the first unknown name in ``scores:``, ``lead:``, ``learned:`` and ``tried:``."""
    file = study.file
    for score in file.scores:
        _check_score(study, score)
    check_names(study.document, ("lead",), "score", [file.lead] if file.lead else (), file.scores)
    for number, sentence in enumerate(file.learned):
        for name, part in places(sentence):
            check_names(study.document, ("learned", number), "score", [name], file.scores)
            check_names(study.document, ("learned", number), "part of a score", [part], PARTS)
    for number, tried in enumerate(file.tried):
        check_names(study.document, ("tried", number, "score"), "score", [tried.score], file.scores)


def _check_score(study: Study, score: str) -> None:
    spec, path = study.file.scores[score], ("scores", score)
    names: tuple[tuple[str, str, str | None, Collection[str]], ...] = (
        ("metric", "metric", spec.metric, METRICS),
        ("question", "question", spec.question, QUESTIONS),
        ("of", "score", spec.of, study.file.scores),
        ("part", "quantity", spec.part, QUANTITIES),
    )
    for key, what, given, known in names:
        check_names(study.document, (*path, key), what, [given] if given else (), known)
    check_names(study.document, (*path, "tables"), "table", spec.tables, study.tables)
    if isinstance(spec.null, ElsewhereSpec):
        check_names(study.document, (*path, "null", "table"), "table", [spec.null.table], study.tables)
        columns = study.tables[spec.null.table].file.columns
        check_names(study.document, (*path, "null", "column"), "column", [spec.null.column], columns)
    elif spec.null and spec.metric not in MEANS:
        having = ", ".join(MEANS)
        problem = f"no single number scores best with {spec.metric}"
        raise placed(InputError(problem, path=(*path, "null"), expected=f"one of {having} as metric"), study.document)
