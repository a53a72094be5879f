#!/usr/bin/env python3
"""The runner of cases must notice every kind of difference, and --update must write what it then accepts."""
import contextlib
import io
import pathlib
import tempfile
import unittest

import run


class Cases(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        root = pathlib.Path(self.folder.name).resolve()
        for name in ("tree/samples", "tree/build", "work"):
            (root / name).mkdir(parents=True)
        self.root = root
        self.world = run.World(root / "tree", root / "tree" / "build", root / "work", 1)
        self.world.place_links()

    def check(self, text, update=False):
        path = self.root / "some.case"
        path.write_text(text)
        with contextlib.redirect_stdout(io.StringIO()):
            message = run.check(path, self.world, update)
        return message, path.read_text()

    def test_holds(self):
        for text in ("$ echo a; echo; echo b\na\n\nb\n", "$ echo oops >&2; exit 3\n! oops\n= 3\n", "# only words\n\n$ true\n\n$ true\n",
                     "$ echo '$ 5'; printf '%s\\n' '\\n'\n\\$ 5\n\\\\n\n", "$ echo 1 > f\n\n$ cat f\n1\n", "$ echo $SAMPLES/x; pwd\n$SAMPLES/x\n$PWD\n",
                     "~ TIME [0-9.]+ ms\n$ echo took 12.5 ms\ntook <TIME>\n", "$ kill -9 $$\n= 137\n"):
            self.assertEqual(self.check(text)[0], "", text)

    def test_notices(self):
        for text in ("$ echo a\nb\n", "$ echo a >&2\na\n", "$ echo a\n", "$ true\na\n", "$ exit 1\n", "$ true\n= 1\n", "$ sleep 9\n", "loose\n",
                     "~ TIME [0-9]+ ms\n$ echo 12 s\n<TIME>\n", "~ TIME\n$ true\n", "@\n"):
            self.assertNotEqual(self.check(text)[0], "", text)

    def test_leaves_out_what_the_system_cannot_do(self):
        self.assertEqual(self.check("$ echo a\na\n\n? false\n$ echo b\nanother\n")[0], "")
        self.assertNotEqual(self.check("$ echo a\nanother\n\n? false\n$ echo b\nb\n")[0], "")
        self.assertNotEqual(self.check("? true\n$ echo b\nanother\n")[0], "")
        self.assertEqual(self.check("? false\n$ echo b\nold\n", update=True)[1], "? false\n$ echo b\nold\n")

    def test_update_writes_what_holds(self):
        before = "# words\n~ N [0-9]+\n\n$ echo '# a' 7; echo b >&2; exit 2\nold\n"
        message, after = self.check(before, update=True)
        self.assertEqual(message, "")
        self.assertIn("\\# a <N>\n! b\n= 2\n", after)
        self.assertEqual(self.check(after)[0], "")

    def test_runs_the_commands_of_a_document(self):
        document = self.root / "tree" / "README.md"
        document.write_text("text\n```sh\necho a > made\ntools/demo.sh\ntest \\\n  -e made\n```\n```\nnot this\n```\n")
        self.assertEqual(self.check("@ README.md tools/\n")[0], "")
        document.write_text("```sh\nfalse\n```\n")
        self.assertIn("$ false", self.check("@ README.md\n")[0])


if __name__ == "__main__":
    unittest.main()
