"""The base of every specification model, and the types of quantities for its fields.

A specification model is a pydantic class for a mapping in YAML; its contents are the values of its fields. A part is a
machine, strategy or runtime. Numbers with a unit stay decimals until they become integers (picoseconds, bytes, bytes
per second). No number becomes a float on its way from a YAML file to the engine (model section 1.1).
"""

import json
import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextvars import ContextVar
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic_core.core_schema import (
    CoreSchema,
    no_info_plain_validator_function,
    wrap_serializer_function_ser_schema,
)

from numasim.files.reader import whole_number
from numasim.parts.unit_factors import GIGA, MILLION, PS_PER_NS
from numasim.parts.yaml.nodes import Held
from numasim.schema.enumerations import MOST_BYTES

REMARKS = ("name", "sources", "leaves_out")  # fields of a part that change no run, so that they are no contents
MAX_NS = Decimal(9_000_000_000_000)  # 2.5 hours; keeps every sum of times far inside 63 bits of picoseconds
_UNITS = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_BYTES = re.compile(r"([0-9]{1,20})\s*([A-Za-z]*)")


_inside: ContextVar[bool] = ContextVar("_inside", default=False)  # whether this thread builds the schema of a model


def _dumped(value: BaseModel, dumped: SerializerFunctionWrapHandler) -> Any:
    type(value).model_rebuild()  # does nothing if the serializer is built
    return dumped(value)


class Model(BaseModel):
    """A frozen specification model that refuses unknown keys.

    Validators are built at their first use, because a run needs few validators. `model_construct`, which needs no
    validator, makes values that are known to be valid, such as defaults.

    The values of a model may be of several kinds, such as the kinds of locks. ``kinds_of_key`` has, for each field that
    only some kinds have, these kinds. The field ``kind_key`` names the kind; a word of ``kind_words`` in place of a
    mapping stands for the mapping of this kind. Without ``kind_key`` the kind follows from the given fields.
    ``goes_with`` has, for a field, the other fields whose change makes it meaningless; if a part changes another one
    (`numasim.spec.part_merge`), meaningless fields are dropped.
    """

    kind_key: ClassVar[str | None] = None
    kinds_of_key: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    kind_words: ClassVar[Collection[str]] = ()
    goes_with: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, arbitrary_types_allowed=False, defer_build=True
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return pydantic's schema of the model; inside another model, a function that builds it at its first use."""
        if not _inside.get():
            before = _inside.set(True)
            try:
                return handler(source)
            finally:
                _inside.reset(before)

        def validate(value: Any) -> BaseModel:
            return cls.model_validate(value)

        validate.__name__ = cls.__name__  # names the branch of a union in errors
        name = f"{cls.__module__}.{cls.__qualname__}:{id(cls)}"
        written = wrap_serializer_function_ser_schema(_dumped)
        return no_info_plain_validator_function(validate, ref=name, serialization=written)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON Schema of the model, also if ``core_schema`` is the function inside another model."""
        if core_schema["type"] != "function-plain":
            return handler(core_schema)
        cls.model_rebuild()
        return handler(cls.__pydantic_core_schema__)

    @classmethod
    def kind_of(cls, given: Mapping[str, Any]) -> str | None:
        """Return the kind of a mapping with the fields ``given``; None if they do not determine it."""
        if cls.kind_key is not None:
            return given.get(cls.kind_key)
        return next((kinds[0] for key, kinds in cls.kinds_of_key.items() if key in given), None)

    @classmethod
    def default_kind(cls) -> str | None:
        """Return the kind of a mapping that gives no kind."""
        default = None if cls.kind_key is None else cls.model_fields[cls.kind_key].default
        return default if isinstance(default, str) else None

    @classmethod
    def has_meaning(cls, key: str, kind: str) -> bool:
        """Return whether values of ``kind`` have the field ``key``."""
        return key not in cls.kinds_of_key or kind in cls.kinds_of_key[key]

    def _of_another_kind(self) -> Iterator[str]:
        """Yield a sentence for each field that is given although the value's kind has no such field."""
        kind = self.kind_of({key: getattr(self, key) for key in self.model_fields_set}) or self.default_kind()
        for key, kinds in self.kinds_of_key.items():
            if key in self.model_fields_set and getattr(self, key) is not None and kind not in kinds:
                yield f"{key} goes with {self.kind_key}: {' or '.join(kinds)}, not with {self.kind_key}: {kind}"

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values of some fields; cached properties are not copied."""
        copied = super().model_copy(update=update, deep=deep)
        for derived in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[derived]
        return copied

    @cached_property
    def contents_json(self) -> str:
        """Return canonical JSON of the model without the fields `REMARKS`."""
        return self.json_without(*REMARKS)

    @cached_property
    def whole_json(self) -> str:
        """Return canonical JSON of the whole model; two models of one class are equal if their texts are equal."""
        return self.json_without()

    def json_without(self, *left_out: str) -> str:
        """Return canonical JSON of the model without the fields ``left_out``."""
        return canonical_json({name: value for name, value in self.own_contents.items() if name not in left_out})

    @property
    def own_contents(self) -> dict[str, Any]:
        """Return the contents by name, as `model_dump` does, but with inner models in place of their contents."""
        return self._contents(_fields)

    def _contents(self, contents_of: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the contents by name, from ``contents_of``, which returns the fields of a model by name."""
        contents: dict[str, Any] = contents_of(self)
        return contents


def _fields(model: Model, _index: Any = None) -> dict[str, Any]:
    return {name: getattr(model, name) for name, field in type(model).model_fields.items() if not field.exclude}


def shape(value: Any) -> str:
    """Return the written form of a value, which selects the branch of a union: text, list, mapping or number."""
    if isinstance(value, str | list | tuple):
        return "text" if isinstance(value, str) else "list"
    return "mapping" if isinstance(value, Mapping | BaseModel) else "number"


def by_shape(sentence: str) -> Discriminator:
    """Return the discriminator of a union that chooses by `shape`; ``sentence`` is the error if no branch fits."""
    return Discriminator(shape, custom_error_type="shape", custom_error_message=sentence)


def _yes_or_no(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if value not in ("yes", "no"):
        raise ValueError("yes or no is needed here")
    return value == "yes"


# YAML 1.2 reads yes and no as texts
YesNo = Annotated[bool, BeforeValidator(_yes_or_no, json_schema_input_type=bool | Literal["yes", "no"])]


class CheckedModel(Model):
    """A model with conditions on several fields; the first sentence that `_problems` yields is the model's error."""

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        for problem in self._problems():
            raise ValueError(problem)
        return self

    @abstractmethod
    def _problems(self) -> Iterator[str]:
        """Yield sentences about fields that contradict each other."""


class LeanModel(Model):
    """A model whose contents leave out the fields ``left_out`` if they have their defaults, so that a new field changes
    the identity (hash of the contents) of no run that does not give it.
    """

    left_out: ClassVar[Collection[str]] = ()

    @model_serializer(mode="wrap")
    def _contents(self, contents_of: SerializerFunctionWrapHandler) -> dict[str, Any]:
        contents = super()._contents(contents_of)
        usual = {name for name in self.left_out if getattr(self, name) == type(self).model_fields[name].default}
        return {name: value for name, value in contents.items() if name not in usual}


def canonical_json(value: Any) -> str:
    """Return ``value`` as JSON with sorted keys and without spaces.

    Decimals are in normal form, so that 1.50 and 1.5 give one text; the text of a `Held` object is its contents.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_normal)


def _normal(value: Any) -> Any:
    if isinstance(value, Model):
        return value.own_contents
    if isinstance(value, Held):
        return value.contents
    if not isinstance(value, Decimal):
        raise TypeError(f"{type(value).__name__} has no canonical JSON")
    return str(value.normalize())


def ps(time_ns: Decimal) -> int:
    """Return nanoseconds as an exact integer of picoseconds."""
    return int(time_ns * PS_PER_NS)


def _whole_ps(value: Decimal) -> Decimal:
    if value * PS_PER_NS != int(value * PS_PER_NS):
        raise ValueError("a time is given to whole picoseconds, that is at most three decimals of a nanosecond")
    return value


def _one_at_least(value: Decimal) -> Decimal:
    if value * GIGA < 1:
        raise ValueError("at least one a second, which is 1e-9, is needed here")
    return value


def _decimal(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError("a number is needed here")
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not exact.is_finite():
        raise ValueError("a finite number is needed here")
    return exact


def size_bytes(value: Any) -> Any:
    """Return the bytes that a number or a text such as 64KiB stands for. Raises ValueError for any other value."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    found = _BYTES.fullmatch(value.strip()) if isinstance(value, str) else None
    if not found or found[2] not in _UNITS:
        raise ValueError("a size is a whole number of bytes or a text such as 32KiB, 15MiB, 16GiB")
    return int(found[1]) * _UNITS[found[2]]


def _integer(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a whole number is needed here")
    return value


Exact = Annotated[Decimal, BeforeValidator(_decimal)]  # a finite number; all digits are kept as written
Nanoseconds = Annotated[Exact, Field(ge=0, le=MAX_NS), AfterValidator(_whole_ps)]  # >= 0, a multiple of 1 ps
GigabytesPerSecond = Annotated[Exact, Field(gt=0, le=100_000), AfterValidator(_one_at_least)]  # 10**9 bytes per second
Multiple = Annotated[Exact, Field(gt=0, le=1000)]  # a factor of a given quantity
Gigahertz = Annotated[Exact, Field(gt=0, le=100), AfterValidator(_one_at_least)]
SizeText = Annotated[str, Field(pattern=r"^[0-9]{1,20} *(B|KiB|MiB|GiB|TiB)?$")]
Bytes = Annotated[int, Field(ge=0, le=MOST_BYTES), BeforeValidator(size_bytes, json_schema_input_type=int | SizeText)]
Whole = Annotated[int, BeforeValidator(_integer)]  # a whole number, also if it is written as 1e6
Ppm = Annotated[Whole, Field(ge=0, le=1_000_000)]  # parts per million
Count = Annotated[Whole, Field(ge=0, le=2**48)]
PositiveCount = Annotated[Whole, Field(ge=1, le=2**48)]
Seed = Annotated[Whole, Field(ge=0, lt=2**64)]
Fraction = Annotated[Exact, Field(ge=0, le=1)]
SignedFraction = Annotated[Exact, Field(ge=-1, le=1)]
Sentence = Annotated[str, Field(min_length=1, max_length=500)]
Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=100)]


def bytes_per_s(rate_gbs: Decimal) -> int:
    """Return gigabytes (10**9) per second as an integer of bytes per second."""
    return int(rate_gbs * GIGA)


def ppm(fraction: Decimal) -> int:
    """Return a fraction in parts per million, rounded to the nearest integer."""
    return int((fraction * MILLION).to_integral_value())


# ---- Lists of numbers as the Linux kernel writes them, such as ``0-3,8`` ---------------------------------------------

MOST_PROCESSORS = 65_536  # most processors of one system; Linux itself is built for 8,192 at most


def number_list(text: str) -> frozenset[int]:
    """Return the numbers of a list in the form of the Linux kernel, such as ``0-3,8``.

    Raises ValueError for other texts, and for a number that is not below `MOST_PROCESSORS`.
    """
    bits = 0
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, dash, last = part.partition("-")
        low, high = whole_number(first), whole_number(last if dash else first)
        if not 0 <= low <= high < MOST_PROCESSORS:
            raise ValueError(f"{part} is no range of processors")
        bits |= (1 << high + 1) - (1 << low)
    return frozenset(number for number in range(bits.bit_length()) if bits >> number & 1)


def as_list(numbers: Iterable[int]) -> str:
    """Return ``numbers`` as the text of a list of the kernel, such as ``0-3,8``."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
