#!/usr/bin/env python3
"""Drives the window as a person would: Xvfb is the display, xdotool the hands. What is shown is read from --trace-state, not from pixels.

Without Xvfb or xdotool it says so and is skipped.
"""
import os
import pathlib
import queue
import re
import shutil
import sqlite3
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

    def is_soon(self, pattern, limit_s=3):
        end = time.monotonic() + limit_s
        while not re.search(pattern, self.drain()) and time.monotonic() < end:
            time.sleep(0.05)
        return re.search(pattern, self.state) is not None

    def drain(self):
        """The newest state of those that have been told."""
        while not self.lines.empty():
            self.state = self.lines.get().strip()
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


def search(window, words):
    window.key("slash")
    window.until(" typing=1 ", "/ goes into the search")
    window.hands("type", "--delay", "40", words)
    for _ in range(5):  # until it is left and keys are shortcuts again: ImGui 1.86 loses a press between two frames
        window.key("Return")
        if window.is_soon(" typing=0 "):
            break
    window.until(" typing=0 ", "Return leaves the search")


def step_of(window):
    return int(re.search("step=(-?[0-9]+)", window.state).group(1))


def find_the_slowest_step_and_its_line(options, folder, display):
    """Top, its first row, then the source: the line of the program that makes the step."""
    program = pathlib.Path(folder) / "net.hlo"
    program.write_text(
        'HloModule net\nENTRY e {\n a = f32[512,512] parameter(0)\n'
        ' small = f32[512,512] negate(a), metadata={op_name="net/negate" source_file="net.py" source_line=2}\n'
        ' large = f32[512,512] dot(small, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="net/matmul" source_file="net.py" source_line=3}\n'
        ' ROOT last = f32[512,512] exponential(large), metadata={op_name="net/exp" source_file="net.py" source_line=4}\n}\n'
    )
    (program.parent / "net.py").write_text("def net(a):\n    small = -a\n    large = small @ a\n    return exp(large)\n")
    window = Window(options, [viewer.replay(options, program, program.with_suffix(".db"))], display, folder)
    try:
        window.until("run=1 .*busy=0", "it opens")
        window.hands("windowfocus", window.find())
        window.key("5", "Home")
        window.until(r"panel=top .*source=net\.py:3 name=large ", "the first row of Top is the slowest step, with its line")
        window.key("7")
        window.until("panel=source .*busy=0", "7 shows the source")
        window.key("n")
        window.until(r"source=net\.py:[24] ", "N goes to the line of the next most time")
        window.key("N")
        window.until(r"source=net\.py:3 ", "and Shift+N back")
        time.sleep(0.3)
        window.picture(options.artefacts / "window_source.png")
    finally:
        window.program.kill()


def judge_a_fusion(options, folder, display):
    """One fusion of the run costs: the next that costs is it, and it alone is left where only those are shown."""
    path = viewer.replay(options, options.samples / viewer.SAMPLES["mnist"], pathlib.Path(folder) / "fused.db", "--unfused")
    store = sqlite3.connect(path)
    step = store.execute("SELECT step FROM fusion_cost WHERE verdict <> 'costs' ORDER BY pass_ns DESC LIMIT 1").fetchone()[0]
    store.execute("UPDATE fusion_stat SET verdict = 'costs', ratio = 0.8, ratio_low = 0.79, ratio_high = 0.81 WHERE step = ?", [step])
    store.commit()
    store.close()
    window = Window(options, [path], display, folder)
    try:
        window.until("run=1 .*busy=0", "it opens")
        window.hands("windowfocus", window.find())
        window.key("6")
        window.until("panel=fusions .*busy=0", "6 shows the fusions")
        window.key("n")
        window.until(f"step={step} ", "N goes to the fusion that costs")
        window.key("Down")
        window.until(f"step=(?!{step} )[0-9]+ ", "Down goes to another one")
        window.key("v")  # only those that cost
        time.sleep(0.5)
        window.key("Home")
        window.until(f"step={step} ", "the only one that is shown is it")
        time.sleep(0.3)
        window.picture(options.artefacts / "window_fusions.png")
    finally:
        window.program.kill()


def search_and_walk(options, folder, display):
    """A slice by a click; a regular expression, and from hit to hit."""
    path = viewer.database(options, "bert")
    store = sqlite3.connect(path)
    hits = [step for step, name in store.execute("SELECT step, name FROM step WHERE run = 1 ORDER BY step") if re.search(r"^fusion\.(17|23)[0-9]?$", name)]
    store.close()
    window = Window(options, [path, "--panel", "timeline"], display, folder)
    try:
        window.until("run=1 .*busy=0", "it opens")
        window.hands("windowfocus", window.find())
        window.key("1")
        for y in range(140, 500, 20):  # down over the rows, until a slice is under the hand
            window.click(700, y)
            window.until("busy=0", "it rests")
            time.sleep(0.1)
            window.drain()
            if step_of(window) >= 0:
                break
        viewer.expect(step_of(window) >= 0, f"no slice was clicked: {window.state}")
        window.key("r")
        search(window, r"^fusion\.(17|23)[0-9]?$")
        seen = []
        for _ in hits:
            before = step_of(window)
            window.key("n")
            window.until(f"step=(?!{before} )[0-9]+ ", "N goes to the next hit")
            seen.append(step_of(window))
        viewer.expect(sorted(seen) == hits, f"the hits are {hits}, N went to {seen}")
        window.key("N")
        window.until(f"step={seen[-2]} ", "Shift+N goes back")
        time.sleep(0.3)
        window.picture(options.artefacts / "window_search.png")
    finally:
        window.program.kill()


TASKS = (find_the_slowest_step_and_its_line, judge_a_fusion, search_and_walk)


def test(options):
    missing = [name for name in ("Xvfb", "xdotool") if not shutil.which(name)]
    if missing:
        print(f"skipped: {' and '.join(missing)} is not installed (apt-get install xvfb xdotool imagemagick)")
        return viewer.SKIPPED
    options.artefacts.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        database = viewer.database(options, "bert")
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
            for number, task in enumerate(TASKS):
                home = pathlib.Path(folder) / str(number)  # with settings of its own
                home.mkdir()
                task(options, home, display)
        finally:
            if window is not None and window.program.poll() is None:
                window.program.kill()
            server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(viewer.main(test))
