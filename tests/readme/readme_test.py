#!/usr/bin/env python3
"""Runs the commands of README.md's shell blocks, in order, in a folder that holds links to ours.

Not run are those that would set up, build or test again, or that take minutes; of these it is
checked that the program exists. Files and folders that the README names must exist too.
"""

import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
NOT_RUN = re.compile(r"^scripts/(setup|build|test|lint|format)\b|resnet50")


def commands():
    blocks = re.findall(r"^```sh\n(.*?)^```", README, re.M | re.S)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


class Readme(unittest.TestCase):
    def test_commands_work(self):
        ran = 0
        with tempfile.TemporaryDirectory() as folder:
            for entry in ROOT.iterdir():
                os.symlink(entry, pathlib.Path(folder) / entry.name)
            for command in commands():
                with self.subTest(command=command):
                    program = shlex.split(command)[0]
                    self.assertTrue(os.access(ROOT / program, os.X_OK), f"{program} can't be run")
                    if NOT_RUN.search(command):
                        continue
                    run = subprocess.run(
                        command, shell=True, cwd=folder, capture_output=True, text=True, timeout=600
                    )
                    self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
                    self.assertTrue(run.stdout.strip(), "it printed nothing")
                    ran += 1
        self.assertGreaterEqual(ran, 5, "README has lost its commands")

    def test_paths_exist(self):
        """Every `path` in backquotes that looks like one of this repository's."""
        tops = "src|kernels|models|analyzers|reports|tests|scripts|cmake"
        named = set(re.findall(rf"`((?:{tops})/[\w./-]*)", README))
        self.assertGreater(len(named), 10)
        for path in sorted(named):
            with self.subTest(path=path):
                self.assertTrue((ROOT / path).exists())

    def test_map_names_every_folder(self):
        for entry in ("src/core", "src/backward", "src/cli", *self.top_folders()):
            with self.subTest(folder=entry):
                self.assertIn(f"`{entry}/`", README)

    @staticmethod
    def top_folders():
        with_cmake = (path.parent.name for path in ROOT.glob("*/CMakeLists.txt"))
        return sorted(
            name for name in with_cmake if name != "src" and not name.startswith((".", "build"))
        )


if __name__ == "__main__":
    unittest.main()
