"""A browser without a window, driven by its debugging protocol over a web socket: what the tests of pages need,
with nothing but Python's own library."""

import base64
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import time
import urllib.request

PROGRAM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
KEYS = {"Tab": 9, "Enter": 13, " ": 32, "ArrowRight": 39}


class Socket:
    """Text frames of RFC 6455, as a client."""

    def __init__(self, address):
        host, path = address.removeprefix("ws://").split("/", 1)
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.file = self.socket.makefile("rb")
        assert b" 101 " in self.file.readline()
        while self.file.readline().strip():
            pass

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = (bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
                if len(data) < 1 << 16 else b"\xff" + struct.pack(">Q", len(data)))
        self.socket.sendall(b"\x81" + size + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def receive(self):
        text = b""
        while True:
            first, second = self.file.read(2)
            size = second & 127
            if size >= 126:
                size = struct.unpack(*((">H", self.file.read(2)) if size == 126 else (">Q", self.file.read(8))))[0]
            data = self.file.read(size)
            if first & 15 in (0, 1):
                text += data
                if first & 0x80:
                    return text.decode()

    def close(self):
        self.file.close()
        self.socket.close()


class Browser:
    """One page. `folder`: where the browser may write."""

    def __init__(self, folder, width=1200, height=900):
        self.process = subprocess.Popen(
            [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0",
             f"--user-data-dir={folder}/profile", f"--window-size={width},{height}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        told, end = folder / "profile/DevToolsActivePort", time.monotonic() + 60
        while not (told.exists() and "\n" in told.read_text()):
            if time.monotonic() > end or self.process.poll() is not None:
                self.close()
                raise RuntimeError("the browser does not start")
            time.sleep(0.05)
        port = told.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=60) as answer:
            (page,) = [one for one in json.load(answer) if one["type"] == "page"]
        self.socket, self.number, self.events = Socket(page["webSocketDebuggerUrl"]), 0, []
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def close(self):
        """Ends it, with the processes that it has started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        if hasattr(self, "socket"):
            self.socket.close()

    def ask(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            told = json.loads(self.socket.receive())
            if told.get("id") == self.number:
                assert "error" not in told, (method, told)
                return told["result"]
            self.events.append(told)

    def wait(self, event):
        while not any(told["method"] == event for told in self.events):
            self.events.append(json.loads(self.socket.receive()))

    def open(self, address):
        self.events.clear()
        self.ask("Page.navigate", url=address)
        self.wait("Page.loadEventFired")

    def complaints(self):
        """Errors of scripts, and what could not be loaded, since the page was opened."""
        return [told for told in self.events if told["method"] in ("Runtime.exceptionThrown", "Log.entryAdded")]

    def value(self, script):
        """Of an expression, as JSON has it."""
        told = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def prefer(self, scheme):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def size(self, width, height):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def press(self, key):
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code="Space" if key == " " else key, windowsVirtualKeyCode=KEYS[key],
                     **({"text": text} if text and kind == "keyDown" else {}))

    def click(self, selector):
        """With the mouse, in the middle of the first that is like this."""
        x, y = self.value(f"(() => {{ const one = document.querySelector({json.dumps(selector)}); one.scrollIntoView({{block: 'center'}});"
                          "const box = one.getBoundingClientRect(); return [box.x + Math.min(box.width / 2, 40), box.y + box.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]))
