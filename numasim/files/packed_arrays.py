"""Files of numpy arrays in a zip archive (npz): arrays of one dimension, of whole numbers, checked before allocation.

The sizes that an archive declares are compared with the size of the file before anything is unpacked, so that a small
file cannot fill the memory. Nothing in the file is evaluated: an element is a whole number of 1 to 8 bytes, and regular
expressions read the head of an array. The format is that of ``numpy.savez`` and ``numpy.savez_compressed``.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
import numpy.typing as npt

from numasim.errors import InputError
from numasim.files.reader import GIB, MIB

Array = npt.NDArray[Any]

MOST_UNPACKED = GIB  # most bytes of all arrays
MOST_ARRAYS = 4_096
MOST_DIRECTORY = MIB  # most bytes of the archive's list of members
MOST_TIMES = 1_100  # most unpacked bytes for each packed byte: the deflate method reaches at most 1,032
MOST_HEAD = 4_096  # most bytes of an array's head, which declares its type and length
SUFFIX = ".npy"
EXPECTED = "an archive as numpy.savez writes it"
ARRAY = "an array as numpy.save writes it"
_END, _END_OF_LARGE = b"PK\x05\x06", b"PK\x06\x07"
_END_BYTES, _LOCATOR_BYTES = 22, 20
_TYPE = re.compile(r"'descr'\s*:\s*'([<>|=][iu][1248])'")
_ORDER = re.compile(r"'fortran_order'\s*:\s*(False|True)")
_SHAPE = re.compile(r"'shape'\s*:\s*\(\s*([0-9]{0,12})\s*,?\s*\)")
_BROKEN = (BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error, ValueError, OSError)


def write_arrays(file: BinaryIO, arrays: Mapping[str, Array]) -> None:
    """Write ``arrays`` by name, uncompressed; equal arrays give equal bytes."""
    with ZipFile(file, "w", ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(ZipInfo(name + SUFFIX), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)


def read_arrays(data: bytes, place: str) -> dict[str, Array]:
    """Return the arrays in ``data``, the contents of the file ``place``, by name.

    Raises InputError unless the file is an archive of one-dimensional arrays of whole numbers within the limits.
    """
    _check_directory(data, place)
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check_members(members, place)
            return {_name(member): _array(archive, member, place) for member in members}
    except _BROKEN as error:
        raise InputError(f"the archive cannot be read ({error})", place=place, expected=EXPECTED) from None


def _check_directory(data: bytes, place: str) -> None:
    """Raise InputError for an archive without a list of members or with too long a list, before the list is read."""
    end = data[-_END_BYTES:]
    if len(end) < _END_BYTES or not end.startswith(_END) or end[-2:] != b"\0\0":
        raise InputError("the archive has no end: the file may be cut off", place=place, expected=EXPECTED)
    directory = int.from_bytes(end[12:16], "little")
    is_large = data[-_END_BYTES - _LOCATOR_BYTES : -_END_BYTES].startswith(_END_OF_LARGE)
    if is_large or directory > MOST_DIRECTORY or int.from_bytes(end[10:12], "little") > MOST_ARRAYS:
        raise InputError("the archive has too many members", place=place, expected=f"at most {MOST_ARRAYS:,} arrays")


def _check_members(members: list[ZipInfo], place: str) -> None:
    """Raise InputError for an archive with a wrong declaration of a member."""
    seen: set[str] = set()
    for member in members:
        name = member.filename
        if not name.endswith(SUFFIX):
            raise InputError(f"the archive has a member {name!r}", place=place, expected="arrays alone, NAME.npy")
        if name in seen:
            raise _refusal(member, place, "the archive has this array twice", "once")
        seen.add(name)
        if member.flag_bits & 1 or member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            problem = "the array is encrypted or compressed in an unknown way"
            raise _refusal(member, place, problem, "stored or deflated")
        if member.file_size > MOST_TIMES * member.compress_size:
            problem = f"{member.compress_size:,} bytes are to become {member.file_size:,}"
            raise _refusal(member, place, problem, EXPECTED)
    unpacked = sum(member.file_size for member in members)
    if unpacked > MOST_UNPACKED:
        expected = f"at most {MOST_UNPACKED // GIB} GiB"
        raise InputError(f"the arrays have {unpacked:,} bytes", place=place, expected=expected)


def _name(member: ZipInfo) -> str:
    return member.filename.removesuffix(SUFFIX)


def _refusal(member: ZipInfo, place: str, problem: str, expected: str = ARRAY) -> InputError:
    return InputError(problem, place=place, path=(_name(member),), expected=expected)


def _array(archive: ZipFile, member: ZipInfo, place: str) -> Array:
    """Return the array of a member, after reading at most the declared number of bytes."""
    with archive.open(member) as file:
        kind, count, head_bytes = _head(file, member, place)
        declared = head_bytes + count * kind.itemsize
        if declared != member.file_size:
            problem = f"{count:,} elements of {kind.itemsize} bytes take {declared:,} bytes, not {member.file_size:,}"
            raise _refusal(member, place, problem)
        content = file.read()
    if len(content) != count * kind.itemsize:
        raise _refusal(member, place, "the array is cut off")
    return np.frombuffer(content, kind)


def _head(file: Any, member: ZipInfo, place: str) -> tuple[np.dtype[Any], int, int]:
    """Return (type of the elements, number of elements, bytes of the head)."""
    begin = file.read(8)
    if len(begin) < 8 or not begin.startswith(b"\x93NUMPY") or begin[6] not in (1, 2):
        raise _refusal(member, place, "this is no array of numpy")
    size_bytes = 2 if begin[6] == 1 else 4
    head_size = int.from_bytes(file.read(size_bytes), "little")
    if head_size > MOST_HEAD:
        raise _refusal(member, place, f"the head has {head_size:,} bytes", f"at most {MOST_HEAD:,}")
    head = file.read(head_size).decode("latin-1")
    kind, order, shape = _TYPE.search(head), _ORDER.search(head), _SHAPE.search(head)
    if not order or not head.startswith("{") or not head.rstrip().endswith("}"):
        raise _refusal(member, place, "the head is no description of an array")
    if not kind:
        raise _refusal(member, place, "the elements are of another type", "whole numbers of 1 to 8 bytes")
    if not shape:
        raise _refusal(member, place, "the array has another shape", "one dimension")
    count = int(shape[1]) if shape[1] else 1
    return np.dtype(kind[1]), count, 8 + size_bytes + head_size
