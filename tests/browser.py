"""A headless browser, driven by its debugging pipe: no package, no port."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# The tests run as root in containers; the rest keeps the browser from talking to anyone.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
    "--window-size=1280,900",
)


def found() -> str | None:
    """Return the path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a headless Chromium."""

    def __init__(self) -> None:
        path = found()
        assert path is not None
        self.profile = tempfile.mkdtemp(prefix="cpx-browser-")
        to_browser, self.write = os.pipe()
        self.read, from_browser = os.pipe()
        # The browser reads descriptor 3 and writes 4.
        command = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, path, *FLAGS, f"--user-data-dir={self.profile}"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.numbers, self.waiting, self.session = count(1), b"", ""
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.terminate()
        self.process.wait(20)
        os.close(self.write)
        os.close(self.read)
        shutil.rmtree(self.profile, ignore_errors=True)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its answer; what else is heard goes to ``events``."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._hear()
            if heard.get("id") == number:
                assert "error" not in heard, heard["error"]
                answer: dict[str, Any] = heard["result"]
                return answer
            self.events.append(heard)

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self.waiting:
            more = os.read(self.read, 1 << 20)
            assert more, "the browser has ended"
            self.waiting += more
        message, _, self.waiting = self.waiting.partition(b"\0")
        heard: dict[str, Any] = json.loads(message)
        return heard

    def run(self, script: str) -> Any:
        """Return the value of a script."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def open(self, path: Path) -> None:
        """Open a page of ours and wait until its figures are drawn."""
        self.send("Page.navigate", url=path.as_uri())
        for _ in range(600):
            if self.run("document.documentElement?.dataset.ready"):
                return
            time.sleep(0.05)
        raise AssertionError(f"{path} was not drawn: {self.troubles()}")

    def narrow(self, width: int) -> None:
        """Show pages in so many pixels: below 500 as on a telephone."""
        size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def press(self, *keys: str) -> None:
        """Press keys, such as ``Tab`` or ``a``."""
        codes = {"Tab": 9, "Enter": 13, "Space": 32}
        for key in keys:
            text = {"Enter": "\r", "Space": " "}.get(key, key if len(key) == 1 else "")
            own = {
                "key": " " if key == "Space" else key,
                "windowsVirtualKeyCode": codes.get(key, 0),
            }
            self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **own)
            self.send("Input.dispatchKeyEvent", type="keyUp", **own)

    def picture(self) -> bytes:
        """Return what is seen as PNG."""
        data = self.send("Page.captureScreenshot", format="png")["data"]
        return base64.b64decode(data)

    def troubles(self) -> list[Any]:
        """Return exceptions of scripts, and what the browser complains of."""
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded")
        return [event["params"] for event in self.events if event["method"] in kinds]

    def asked_for(self) -> list[str]:
        """Return the addresses that pages have asked for, without data in the page itself."""
        requests = [e for e in self.events if e["method"] == "Network.requestWillBeSent"]
        addresses = [event["params"]["request"]["url"] for event in requests]
        return [a for a in addresses if not a.startswith(("data:", "blob:"))]


class Reader(HTMLParser):
    """Collects tags, texts, scripts and addresses of a page; nothing in it may handle events."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        (self.scripts if self.tags[-1:] == ["script"] else self.texts).append(data)
