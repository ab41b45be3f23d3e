"""Serves the console's own style sheet and mark, by exact name, from memory."""

from __future__ import annotations

import hashlib
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_FOLDER = Path(__file__).parent / "static"
_TYPES = {".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".js": "text/javascript"}
_KEPT = "no-cache"  # asked again each time, and answered with 304


def assets_route(path: str) -> Route:
    """The route `path` with a `{name}`."""
    files = {file.name: _File(file) for file in _FOLDER.iterdir() if file.suffix in _TYPES}

    async def show(request: Request) -> Response:
        file = files.get(request.path_params["name"])
        if file is None:
            raise HTTPException(404)
        return file.answer(request.headers.get("if-none-match", ""))

    return Route(path, show)


class _File:
    """One file with its tag."""

    def __init__(self, file: Path) -> None:
        self._content = file.read_bytes()
        self._tag = f'"{hashlib.sha256(self._content).hexdigest()[:20]}"'
        self._type = _TYPES[file.suffix]

    def answer(self, known: str) -> Response:
        headers = {"ETag": self._tag, "Cache-Control": _KEPT}
        if known == self._tag:
            return Response(status_code=304, headers=headers)
        return Response(self._content, headers=headers, media_type=self._type)
