"""
Three reverse modes, one meaning: every way to build an adjoint is asked for the same derivative, and so are two oracles.

    question      what is asked: a program, a point, first or second order
    answers       what each mode says, in doubles and exactly, and what it costs
    meters        machine steps, the peak of live values, the size of a program
    judgement     whether they agree: a verdict for each, a report for all
    disagreement  the first differing step of the reverse sweep
    matrix        every program of a corpus by every mode, with the reasons why a mode refuses
"""

from checkers.agreement.answers import ORACLES, Answer, Answers, answers
from checkers.agreement.judgement import ALL, Judged, judge, report, summary_of
from checkers.agreement.meters import applications, metered
from checkers.agreement.question import Question, question

__all__ = [
    "ALL",
    "ORACLES",
    "Answer",
    "Answers",
    "Judged",
    "Question",
    "answers",
    "applications",
    "judge",
    "metered",
    "question",
    "report",
    "summary_of",
]
