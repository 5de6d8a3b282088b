"""Evaluates formulas over traces with rtamt, offline and in discrete time.

usage: rtamt_robustness.py CASES

CASES has, for each case, a line with the formula, then one line of numbers per variable
`a0`, `a1`, …, then an empty line. Prints one line per case: the robustness at each sample.
"""

import sys
import warnings

import rtamt

warnings.filterwarnings("ignore")


def robustness(formula, columns):
    # A specification and lists of its own for each case: evaluated twice, rtamt gives
    # another answer, because it lengthens the lists it was given (nickovic/rtamt#85).
    spec = rtamt.StlDiscreteTimeSpecification()
    data = {"time": list(range(len(columns[0])))}
    for number, column in enumerate(columns):
        spec.declare_var(f"a{number}", "float")
        data[f"a{number}"] = list(column)
    spec.spec = formula
    spec.parse()
    return [value for _, value in spec.evaluate(data)]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = [case.splitlines() for case in file.read().split("\n\n") if case.strip()]
    for formula, *lines in cases:
        columns = [[float(word) for word in line.split()] for line in lines]
        print(*(repr(float(value)) for value in robustness(formula, columns)))


main()
