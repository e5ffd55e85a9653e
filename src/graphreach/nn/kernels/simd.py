"""Vector instructions inside kernels, where the compiler would not find them by itself.

A loop over many arrays is vectorised only after checks that none of them overlap, and given up when there are too many.
Here a vector is a value of its own: a few of the processor's registers, with ``+``, ``-``, ``*`` and the functions below.
These work inside kernels only. A product followed by a sum is one instruction that rounds once.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

REGISTER = 256
"""Bits of one register."""

LARGEST = 8
"""Numbers of the smallest type in a register: rows padded to a multiple of it can be read by whole registers."""

types: Any = numba_types
CONTRACT = ("contract",)
I32, I64 = ir.IntType(32), ir.IntType(64)
LN2 = {32: (0.693359375, -2.12194440e-4), 64: (6.93147180369123816490e-01, 1.90821492927058770002e-10)}
"""The logarithm of two as a number with few bits, whose products with small integers are exact, and the rest."""
TERMS = {32: 8, 64: 14}
"""Terms of the series of exp that leave less than the last bit, between -ln 2 / 2 and ln 2 / 2."""
UNDERFLOW = {32: -87.0, 64: -708.0}
MANTISSA = {32: 23, 64: 52}


class Vector(types.Type):  # type: ignore[misc]
    """Some registers full of numbers of one type."""

    def __init__(self, dtype: Any, registers: int) -> None:
        self.dtype, self.registers = dtype, registers
        self.lanes = registers * REGISTER // dtype.bitwidth
        super().__init__(name=f"Vector({dtype}, {registers})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, dmm: Any, fe_type: Vector) -> None:
        element = dmm.lookup(fe_type.dtype).get_value_type()
        super().__init__(dmm, fe_type, ir.VectorType(element, fe_type.lanes))


def _define(operation: Any, build: Callable[[Any, Any, Any], Any]) -> None:
    """Let an operator of Python work on two vectors of one type."""

    @infer_global(operation)
    class Operator(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], Vector) and args[0] == args[1]:
                return signature(args[0], *args)
            return None

    @lower_builtin(operation, Vector, Vector)  # type: ignore[untyped-decorator]
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return build(builder, *args)


_define(operator.add, lambda builder, a, b: builder.fadd(a, b, flags=CONTRACT))
_define(operator.sub, lambda builder, a, b: builder.fsub(a, b, flags=CONTRACT))
_define(operator.mul, lambda builder, a, b: builder.fmul(a, b, flags=CONTRACT))


def _bits(vector: Any) -> int:
    return 32 if isinstance(vector.type.element, ir.FloatType) else 64


def _constant(like: Any, value: float) -> Any:
    return ir.Constant(like.type, [ir.Constant(like.type.element, value)] * like.type.count)


def _shuffle(builder: Any, first: Any, second: Any, lanes: list[int]) -> Any:
    return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(I32, len(lanes)), lanes))


def _spread(builder: Any, value: Any, kind: Any) -> Any:
    nothing = ir.Constant(kind, ir.Undefined)
    return _shuffle(builder, builder.insert_element(nothing, value, I32(0)), nothing, [0] * kind.count)


def _call(builder: Any, name: str, *args: Any) -> Any:
    """One of LLVM's functions that keep the type of their arguments."""
    kind = args[0].type
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [kind] * len(args)), f"{name}.v{kind.count}f{_bits(args[0])}"
    )
    return builder.call(function, args)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index_type: Any, index: Any, kind: Any) -> Any:
    """Where a vector of entries that follow one another begins; ``index`` is a number or a tuple."""
    indices = cgutils.unpack_tuple(builder, index) if isinstance(index_type, types.BaseTuple) else [index]
    struct = context.make_array(array_type)(context, builder, array)
    place = cgutils.get_item_pointer(context, builder, array_type, struct, indices, wraparound=False)
    return builder.bitcast(place, kind.as_pointer())


def _index_type(index: Any) -> Any:
    return types.UniTuple(types.intp, len(index)) if isinstance(index, types.BaseTuple) else types.intp


def _reduce(builder: Any, vector: Any, combine: Callable[[Any, Any], Any]) -> Any:
    """Halves are combined until a single number is left."""
    while vector.type.count > 1:
        half = vector.type.count // 2
        low, high = (_shuffle(builder, vector, vector, list(range(b, b + half))) for b in (0, half))
        vector = combine(low, high)
    return builder.extract_element(vector, I32(0))


@intrinsic  # type: ignore[untyped-decorator]
def lanes(typing_context: Any, array: Any) -> Any:
    """How many of the array's numbers fill a register."""
    return types.intp(array), lambda context, builder, sig, args: I64(REGISTER // array.dtype.bitwidth)


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def zeros(typing_context: Any, array: Any, registers: Any) -> Any:
    """A vector of zeros of the array's type; ``registers`` is written as a number."""
    if not isinstance(registers, types.IntegerLiteral):
        return None
    kind = Vector(array.dtype, registers.literal_value)
    return kind(array, registers), lambda context, builder, sig, args: ir.Constant(context.get_value_type(kind), None)


@intrinsic  # type: ignore[untyped-decorator]
def load(typing_context: Any, array: Any, index: Any, like: Any) -> Any:
    """The entries from ``index`` on, as many as ``like`` has."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = context.get_value_type(like)
        place = _pointer(context, builder, sig.args[0], args[0], sig.args[1], args[1], kind)
        return builder.load(place, align=array.dtype.bitwidth // 8)

    return like(array, _index_type(index), like), codegen


@intrinsic  # type: ignore[untyped-decorator]
def store(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Write all numbers of a vector from ``index`` on."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = _pointer(context, builder, sig.args[0], args[0], sig.args[1], args[1], args[2].type)
        builder.store(args[2], place, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, _index_type(index), value), codegen


def _select_above(builder: Any, a: Any, b: Any, value: Any, other: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), value, other)


def _exp(builder: Any, x: Any) -> Any:
    """exp(x) = 2^n exp(x - n ln 2) for the nearest integer n, and the rest is so small that a short series does."""
    bits, zero = _bits(x), ir.Constant(x.type, None)
    inside = builder.fcmp_ordered(">", x, _constant(x, UNDERFLOW[bits]))
    n = _call(builder, "llvm.rint", builder.fmul(x, _constant(x, 1 / math.log(2))))
    n = builder.select(inside, n, zero)  # an integer can hold it
    rest = x
    for part in LN2[bits]:
        rest = _call(builder, "llvm.fma", n, _constant(x, -part), rest)
    series = _constant(x, 1 / math.factorial(TERMS[bits] - 1))
    for term in range(TERMS[bits] - 2, -1, -1):
        series = _call(builder, "llvm.fma", series, rest, _constant(x, 1 / math.factorial(term)))
    whole = ir.VectorType(ir.IntType(bits), x.type.count)
    shift = ir.Constant(whole, [MANTISSA[bits]] * x.type.count)
    power = builder.shl(builder.fptosi(n, whole), shift)
    scaled = builder.bitcast(builder.add(builder.bitcast(series, whole), power), x.type)
    below = builder.fcmp_ordered("<=", x, _constant(x, UNDERFLOW[bits]))
    return builder.select(below, zero, scaled)


@intrinsic  # type: ignore[untyped-decorator]
def spread(typing_context: Any, value: Any, like: Any) -> Any:
    """The same number in all places."""
    return like(like.dtype, like), lambda context, builder, sig, args: _spread(builder, args[0], args[1].type)


@intrinsic  # type: ignore[untyped-decorator]
def larger(typing_context: Any, a: Any, b: Any) -> Any:
    """The larger of two numbers, place by place; not a number where ``a`` is not."""
    return a(a, a), lambda context, builder, sig, args: _select_above(builder, args[1], args[0], args[1], args[0])


@intrinsic  # type: ignore[untyped-decorator]
def where_above(typing_context: Any, a: Any, b: Any, value: Any, other: Any) -> Any:
    """``value`` where a > b, else ``other``."""
    return a(a, a, a, a), lambda context, builder, sig, args: _select_above(builder, *args)


@intrinsic  # type: ignore[untyped-decorator]
def total(typing_context: Any, vector: Any) -> Any:
    """The sum of all places."""
    return vector.dtype(vector), lambda context, builder, sig, args: _reduce(builder, args[0], builder.fadd)


@intrinsic  # type: ignore[untyped-decorator]
def largest(typing_context: Any, vector: Any) -> Any:
    """The largest number of all places."""
    return vector.dtype(vector), lambda context, builder, sig, args: _reduce(
        builder, args[0], lambda a, b: _select_above(builder, a, b, a, b)
    )


@intrinsic  # type: ignore[untyped-decorator]
def absolute(typing_context: Any, vector: Any) -> Any:
    """Without the sign."""
    return vector(vector), lambda context, builder, sig, args: _call(builder, "llvm.fabs", *args)


@intrinsic  # type: ignore[untyped-decorator]
def with_sign(typing_context: Any, vector: Any, sign: Any) -> Any:
    """The numbers of one vector with the signs of another."""
    return vector(vector, vector), lambda context, builder, sig, args: _call(builder, "llvm.copysign", *args)


@intrinsic  # type: ignore[untyped-decorator]
def exp(typing_context: Any, vector: Any) -> Any:
    """The exponential of numbers that are not positive, to the last bit or two; zero below the smallest normal ones."""
    return vector(vector), lambda context, builder, sig, args: _exp(builder, args[0])
