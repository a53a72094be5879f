#!/usr/bin/env python3
"""Drives the window as a person would: Xvfb is the display, xdotool the hands. What is shown is read from --trace-state, not from pixels.

Without Xvfb or xdotool it says so and is skipped.
"""
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import viewer

LIMIT_S = 40  # for a machine that is busy
SIZE = (1280, 800)


def start_display():
    """A server that has chosen a free number itself."""
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24", "-nolisten", "tcp"], pass_fds=[write], stderr=subprocess.DEVNULL
    )
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()  # to the end of the line: a server that cannot write it ends
    viewer.expect(number, "Xvfb has told no display")
    return server, f":{number}"


class Window:
    def __init__(self, options, arguments, display, home):
        self.env = {**os.environ, "DISPLAY": display, "XDG_CONFIG_HOME": home, "LIBGL_ALWAYS_SOFTWARE": "1"}
        command = [options.programs / "profile-view", *arguments, "--trace-state", "--size", f"{SIZE[0]}x{SIZE[1]}"]
        self.program = subprocess.Popen([str(part) for part in command], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines, self.state = queue.Queue(), ""
        threading.Thread(target=lambda: [self.lines.put(line) for line in self.program.stdout], daemon=True).start()

    def until(self, pattern, what):
        """Waits for a state that the pattern is found in."""
        end = time.monotonic() + LIMIT_S
        while not re.search(pattern, self.state):
            try:
                self.state = self.lines.get(timeout=0.2).strip()
            except queue.Empty:
                if self.program.poll() is not None:
                    raise viewer.Failure(f"{what}: it has ended with {self.program.poll()}: {self.program.stderr.read()}")
            viewer.expect(time.monotonic() < end, f"{what}: waited for '{pattern}', the state is: {self.state}")
        return self.state

    def find(self):
        end = time.monotonic() + LIMIT_S
        while True:
            found = self.hands("search", "--name", "^profile$").stdout.split()
            if found:
                return found[-1]
            viewer.expect(time.monotonic() < end and self.program.poll() is None, "no window has come")
            time.sleep(0.2)

    def hands(self, *words):
        return viewer.run(["xdotool", *words], env=self.env)

    def key(self, *names):
        self.hands("key", "--delay", "60", *names)

    def click(self, x, y, button=1):
        self.hands("mousemove", str(x), str(y))
        time.sleep(0.3)
        self.hands("click", str(button))

    def picture(self, path):
        if shutil.which("import"):
            viewer.run(["import", "-window", "root", path], env=self.env)


def use(window, options):
    window.until("run=1 step=-1 .*busy=0", "it opens")
    window.hands("windowfocus", window.find())
    time.sleep(0.5)
    window.key("ctrl+p")
    time.sleep(0.5)
    window.hands("type", "--delay", "40", "fusion.1")
    time.sleep(0.5)
    window.key("Return")
    window.until("step=[0-9]+ .*name=fusion", "searching selects a step")
    window.key("ctrl+l")
    window.until("theme=light", "Ctrl+L changes the theme")
    window.key("ctrl+plus")
    window.until(r"zoom=1\.10", "Ctrl++ makes the text larger")
    window.key("ctrl+0")
    window.until(r"zoom=1\.00", "Ctrl+0 makes it normal")
    first = re.search("step=([0-9]+)", window.state).group(1)
    window.click(400, SIZE[1] - 120)  # a row of the table below the timeline
    window.until(f"step=(?!{first} )[0-9]+ ", "a click on a row selects its step")
    window.key("alt+Left")
    window.until(f"step={first} ", "Alt+Left goes back")
    window.key("1")
    window.until("panel=timeline ", "1 gives the first panel the keys")
    window.key("ctrl+Tab")
    window.until("panel=(?!timeline )[a-z]+ ", "Ctrl+Tab gives the next panel the keys")
    window.picture(options.artefacts / "window.png")
    window.key("question")
    time.sleep(0.5)
    window.picture(options.artefacts / "window_keys.png")
    window.key("Escape")
    window.key("ctrl+q")
    window.program.wait(LIMIT_S)
    viewer.expect(window.program.returncode == 0, f"Ctrl+Q: {window.program.returncode}")


def test(options):
    missing = [name for name in ("Xvfb", "xdotool") if not shutil.which(name)]
    if missing:
        print(f"skipped: {' and '.join(missing)} is not installed (apt-get install xvfb xdotool imagemagick)")
        return viewer.SKIPPED
    options.artefacts.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        database = viewer.database(options, folder, "bert")
        server, display = start_display()
        window = None
        try:
            window = Window(options, [database], display, folder)
            use(window, options)
            kept = (pathlib.Path(folder) / "profile" / "view.conf").read_text()
            viewer.expect(kept.startswith("theme light\n"), f"settings are kept: {kept}")
            again = Window(options, [database], display, folder)
            again.until("theme=light", "what was set is there again")
            again.program.terminate()
        finally:
            if window is not None and window.program.poll() is None:
                window.program.kill()
            server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(viewer.main(test))
