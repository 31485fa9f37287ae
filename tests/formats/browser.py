"""A headless Chromium, driven over the pipe of its DevTools protocol.

The browser is that of the environment variable ``MASKPOOL_BROWSER``, or one on PATH.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 60.0
"""Until an answer of the browser is taken to be lost."""


def find_browser() -> str | None:
    """The browser to use; ``None`` if there is none."""
    return os.environ.get("MASKPOOL_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One tab. ``events`` are the notifications so far, by the order in which they came."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._rest = b""
        self._count = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "DOM", "Accessibility"):
            self.call(f"{domain}.enable")

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            if not select([self._from], [], [], SECONDS)[0]:
                raise TimeoutError("the browser does not answer")
            if not (chunk := os.read(self._from, 1 << 20)):
                raise ConnectionError("the browser has ended")
            self._rest += chunk
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a command; events that come before it are kept."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        waiting = memoryview(json.dumps(message).encode() + b"\0")
        while waiting:
            waiting = waiting[os.write(self._to, waiting) :]
        while (answer := self._message()).get("id") != self._count:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def named(self, *methods: str) -> list[dict[str, Any]]:
        """The events so far of these kinds."""
        return [event["params"] for event in self.events if event["method"] in methods]

    def open(self, url: str) -> None:
        """Load a page, and wait until it has been loaded."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not self.named("Page.loadEventFired"):
            self.events.append(self._message())

    def look(self, width: int, height: int = 900, *, dark: bool = False, mobile: bool = False) -> None:
        """The size of the window, and the colours that the user prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, as JSON."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description"))
        return answer["result"].get("value")

    def screenshot(self, path: Path, clip: tuple[float, float, float, float] | None = None) -> None:
        """Write a picture of the page, or of ``clip``: x, y, width and height."""
        more: dict[str, Any] = {"captureBeyondViewport": True}
        if clip:
            more["clip"] = dict(zip(("x", "y", "width", "height"), clip, strict=True)) | {"scale": 1}
        answer = self.call("Page.captureScreenshot", format="png", **more)
        path.write_bytes(base64.b64decode(answer["data"]))


@contextmanager
def opened(browser: str) -> Iterator[Page]:
    """A browser with one empty page; nothing of it stays."""
    read_commands, write_commands = os.pipe()
    read_answers, write_answers = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The browser reads commands from descriptor 3 and answers on 4.
        arguments = [
            "--headless=new",
            "--remote-debugging-pipe",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
            f"--user-data-dir={profile}",
            "about:blank",
        ]
        shell = 'exec "$0" "$@" 3<&"$READ" 4>&"$WRITE"'
        process = subprocess.Popen(
            ["bash", "-c", shell, browser, *arguments],
            env=os.environ | {"READ": str(read_commands), "WRITE": str(write_answers)},
            pass_fds=(read_commands, write_answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_commands)
        os.close(write_answers)
        try:
            yield Page(write_commands, read_answers)
        finally:
            os.close(write_commands)
            os.close(read_answers)
            process.terminate()
            process.wait()
