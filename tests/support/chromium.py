"""A headless Chromium without a network, driven over the DevTools protocol on a pipe: no port, no library."""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time


class BrowserError(Exception):
    """The browser returned an error, or nothing."""


def find():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Chromium:
    """with Chromium() as browser: browser.open(file); browser.value("1 + 1")"""

    def __init__(self, width=1280, height=800, dark=False, seconds=120):
        self.end = time.monotonic() + seconds
        self.size = (width, height)
        self.dark = dark
        self.messages = []  # messages of the console, and errors
        self.requests = []  # requests to the network
        self.number = 0
        self.pending = b""
        self.answers = {}
        self.events = []

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()
        arguments = [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-default-browser-check",
                     "--disable-dev-shm-usage", "--force-device-scale-factor=1", "--hide-scrollbars", "--disable-breakpad",
                     "--host-resolver-rules=MAP * ~NOTFOUND", f"--window-size={self.size[0]},{self.size[1]}",
                     f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"]

        def take_pipes():
            # The browser reads from 3 and writes to 4.
            reading, writing = os.dup(to_browser), os.dup(from_browser)
            os.dup2(reading, 3)
            os.dup2(writing, 4)
            os.setsid()

        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, preexec_fn=take_pipes, close_fds=True,
                                        pass_fds=(3, 4, to_browser, from_browser),
                                        env=dict(os.environ, HOME=self.profile.name))
        os.close(to_browser)
        os.close(from_browser)
        target = self.ask("Target.createTarget", {"url": "about:blank"}, session=None)["targetId"]
        self.session = self.ask("Target.attachToTarget", {"targetId": target, "flatten": True}, session=None)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Network.emulateNetworkConditions", {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
        self.ask("Emulation.setDeviceMetricsOverride", {"width": self.size[0], "height": self.size[1], "deviceScaleFactor": 1, "mobile": False})
        self.set_dark(self.dark)
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        os.close(self.into)
        os.close(self.out)
        self.profile.cleanup()

    def left(self):
        seconds = self.end - time.monotonic()
        if seconds <= 0:
            raise BrowserError("the browser took too long")
        return seconds

    def receive(self):
        while b"\0" not in self.pending:
            if not select.select([self.into], [], [], self.left())[0]:
                raise BrowserError("the browser took too long")
            more = os.read(self.into, 1 << 20)
            if not more:
                raise BrowserError("the browser has gone")
            self.pending += more
        message, self.pending = self.pending.split(b"\0", 1)
        message = json.loads(message)
        if "id" in message:
            self.answers[message["id"]] = message
            return
        self.events.append(message["method"])
        parameters = message.get("params", {})
        if message["method"] == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(argument.get("value", argument.get("description"))) for argument in parameters["args"]))
        elif message["method"] == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.messages.append(details.get("exception", {}).get("description", details["text"]))
        elif message["method"] == "Log.entryAdded":
            self.messages.append(parameters["entry"]["text"])
        elif message["method"] == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def ask(self, method, parameters=None, session=True):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while self.number not in self.answers:
            self.receive()
        answer = self.answers.pop(self.number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def value(self, expression):
        """What an expression of JavaScript is; a promise is waited for."""
        result = self.ask("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def wait_for(self, expression):
        while not self.value(expression):
            self.left()
            time.sleep(0.02)

    def open(self, file, end=""):
        """Opens a page, and waits until it has drawn itself, or reports an error."""
        self.events.clear()
        self.ask("Page.navigate", {"url": "about:blank"})
        self.ask("Page.navigate", {"url": pathlib.Path(file).resolve().as_uri() + end})
        self.wait_for("location.protocol === 'file:' && document.body !== null && 'state' in document.body.dataset")

    def set_dark(self, dark):
        self.ask("Emulation.setEmulatedMedia",
                 {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def click(self, x, y, count=1):
        for number in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.ask("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": number})

    def move(self, x, y):
        self.ask("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})

    def press(self, key, text=None):
        codes = {"Enter": 13, "Escape": 27, "Backspace": 8, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        of_key = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        self.ask("Input.dispatchKeyEvent", dict(of_key, type="keyDown", **({"text": text} if text else {})))
        self.ask("Input.dispatchKeyEvent", dict(of_key, type="keyUp"))

    def list_overflowing(self, file, width):
        """The parts of a page that are wider than their place on a screen of this width."""
        self.ask("Emulation.setDeviceMetricsOverride", {"width": width, "height": self.size[1], "deviceScaleFactor": 1, "mobile": False})
        self.open(file)
        found = self.value("[document.documentElement, ...document.querySelectorAll('.wide, #heat, .first > section')]"
                           ".filter(one => one.scrollWidth > one.clientWidth).map(one => one.id || one.className + (one.firstChild ? one.firstChild.id : '') || one.tagName)")
        self.ask("Emulation.clearDeviceMetricsOverride")
        return found

    def picture(self, file):
        data = self.ask("Page.captureScreenshot", {"format": "png"})["data"]
        pathlib.Path(file).write_bytes(base64.b64decode(data))
