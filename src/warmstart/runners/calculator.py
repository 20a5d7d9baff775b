"""Arithmetic for models: numbers and operators, nothing that could run, call or grow too large."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

MAX_LENGTH = 500
MAX_POWER = 1000
MAX_BITS = 4096
Number = int | float

_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_SIGNS: dict[type[ast.AST], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs, "min": min, "max": max, "round": round, "sqrt": math.sqrt, "floor": math.floor,
    "ceil": math.ceil, "log": math.log, "log2": math.log2, "log10": math.log10, "exp": math.exp,
    "sin": math.sin, "cos": math.cos, "tan": math.tan,
}  # fmt: skip
_CONSTANTS = {"pi": math.pi, "e": math.e}


def calculate(expression: str) -> str:
    """The value of an expression, as text.

    Raises:
        ValueError: it is none, or its value is not defined or too large.
    """
    if len(expression) > MAX_LENGTH:
        raise ValueError(f"the expression is longer than {MAX_LENGTH} characters")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        value = _evaluate(tree.body)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"not an arithmetic expression: {expression!r}") from error
    except (ArithmeticError, TypeError) as error:
        raise ValueError(f"cannot calculate {expression!r}: {error}") from error
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return str(value)


def _evaluate(node: ast.AST) -> Number:
    match node:
        case ast.Constant(value=bool()):
            raise ValueError("true and false are no numbers")
        case ast.Constant(value=int() | float() as number):
            return _bounded(number)
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=sign, operand=inner) if type(sign) in _SIGNS:
            return _bounded(_SIGNS[type(sign)](_evaluate(inner)))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_evaluate(left), _evaluate(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _bounded(_OPERATORS[type(op)](_evaluate(left), _evaluate(right)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _bounded(_FUNCTIONS[name](*map(_evaluate, args)))
    raise ValueError("only numbers, + - * / // % ** and simple functions are allowed")


def _power(base: Number, exponent: Number) -> Number:
    if abs(exponent) > MAX_POWER:
        raise ValueError(f"the exponent {exponent} is too large")
    if isinstance(base, int) and base.bit_length() * abs(exponent) > MAX_BITS:
        raise ValueError("the result is too large")
    return _bounded(base**exponent)


def _bounded(value: Any) -> Number:
    if isinstance(value, complex) or not isinstance(value, int | float):
        raise ValueError("the result is no real number")  # noqa: TRY004 - said to a model
    too_long = isinstance(value, int) and value.bit_length() > MAX_BITS
    if too_long or not math.isfinite(value if isinstance(value, float) else 0):
        raise ValueError("the result is too large")
    return value
