"""Reads the one file of a multipart form from a body that is in memory already."""

from __future__ import annotations

from dataclasses import dataclass, field

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from jobclaw.errors import PermanentChannelError

PARTS_MOST = 8


@dataclass
class _Part:
    head: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    body: bytearray = field(default_factory=bytearray)


class _Reader:
    """Collects parts from the parser's callbacks."""

    def __init__(self) -> None:
        self.parts: list[_Part] = []
        self._name = bytearray()
        self._value = bytearray()

    def begin(self) -> None:
        if len(self.parts) >= PARTS_MOST:
            raise FormParserError("too many parts")
        self.parts.append(_Part())

    def name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def head(self) -> None:
        self.parts[-1].head[bytes(self._name).lower()] = bytes(self._value)
        self._name.clear()
        self._value.clear()

    def data(self, data: bytes, start: int, end: int) -> None:
        self.parts[-1].body += data[start:end]


def read_file(content_type: str, body: bytes) -> tuple[str, bytes]:
    """The name and content of the first file.

    Raises:
        PermanentChannelError: the body is no form, or there is no file in it.
    """
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise PermanentChannelError("web.no-form")
    reader = _Reader()
    try:
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": reader.begin,
                "on_part_data": reader.data,
                "on_header_field": reader.name,
                "on_header_value": reader.value,
                "on_header_end": reader.head,
            },
        )
        parser.write(body)
        parser.finalize()
    except FormParserError as error:
        raise PermanentChannelError("web.no-form") from error
    for part in reader.parts:
        _, fields = parse_options_header(part.head.get(b"content-disposition", b""))
        if b"filename" in fields:
            return fields[b"filename"].decode(errors="replace"), bytes(part.body)
    raise PermanentChannelError("web.no-file")
