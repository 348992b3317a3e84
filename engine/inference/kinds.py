"""The enumerations of ``paddle.inference``: kinds of data, of places and of precision."""

from __future__ import annotations

from enum import Enum

from engine.core.errors import DTypeError
from engine.core.values.dtype import DType, as_dtype


class _Kind(Enum):
    """A name with Paddle's number, which ``int()`` gives."""

    def __int__(self) -> int:
        number: int = self.value
        return number

    __index__ = __int__


class DataType(_Kind):
    """What a handle's elements are."""

    FLOAT32 = 0
    INT64 = 1
    INT32 = 2
    UINT8 = 3
    INT8 = 4
    FLOAT16 = 5
    BOOL = 6
    FLOAT64 = 7


class PlaceType(_Kind):
    """Where a handle's elements are."""

    UNK = -1
    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM = 4


class PrecisionType(_Kind):
    """The precision that a model computes in, or is stored in."""

    Float32 = 0
    Int8 = 1
    Half = 2
    Bfloat16 = 3


def data_type(dtype: DType) -> DataType:
    """The DataType of a dtype. Raises DTypeError for one that ``paddle.inference`` has no name for."""
    found = DataType.__members__.get(dtype.name.upper())
    if found is None:
        raise DTypeError(f"inference: {dtype.name} has no DataType; there are {[d.name for d in DataType]}")
    return found


def get_num_bytes_of_data_type(dtype: DataType) -> int:
    """How many bytes an element takes.

    Differs from Paddle: float64, float16, int8 and bool have their sizes; there they have -1.
    """
    if not isinstance(dtype, DataType):
        raise DTypeError(f"get_num_bytes_of_data_type: takes a DataType: got {dtype!r}")
    return int(as_dtype(dtype.name.lower()).np.itemsize)
