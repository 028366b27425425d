#!/usr/bin/env python3
"""scripts/device_check from end to end on the build that is here: every step is told, those that
need a GPU are not-run with a reason where there is none, and the summaries agree.

    device_check_test.py BUILD
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = None
STEPS = [
    "build",
    "check_sass",
    "simulator",
    "simulated_tensors",
    "simulated_step",
    "gpu_tests",
    "gpu_tensors",
    "sanitizer",
    "devices",
    "gpu_bench",
    "gpu_model",
    "gpu_profile",
    "vit_b_16",
    "gpu_vit_b_16",
    "cpu_model",
]
NEED_A_GPU = [s for s in STEPS if s.startswith("gpu_") or s in ("sanitizer", "vit_b_16")]


class DeviceCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = pathlib.Path(cls.folder.name) / "out"
        cls.ended = subprocess.run(
            [
                sys.executable,
                str(ROOT / "scripts/device_check"),
                "--out",
                str(cls.out),
                "--build",
                BUILD,
            ],
            capture_output=True,
            text=True,
        )

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def summary(self):
        return json.loads((self.out / "summary.json").read_text())

    def test_every_step_is_told_once_in_both_summaries(self):
        self.assertEqual(self.ended.returncode, 0, self.ended.stdout + self.ended.stderr)
        self.assertEqual([s["name"] for s in self.summary()["steps"]], STEPS)
        text = (self.out / "summary.txt").read_text()
        for step in self.summary()["steps"]:
            self.assertIn(f"{step['outcome']:8} {step['name']}", text)

    def test_what_needs_no_gpu_passes(self):
        for step in self.summary()["steps"]:
            if step["name"] in NEED_A_GPU or step["name"] == "build":
                continue
            self.assertEqual(step["outcome"], "passed", step)
            self.assertTrue((self.out / f"{step['name']}.log").is_file())
        report = json.loads((self.out / "digits_vit.json").read_text())
        self.assertEqual(report["environment"]["device"], "cpu")

    @unittest.skipIf(shutil.which("nvidia-smi"), "there is a GPU")
    def test_without_a_gpu_its_steps_are_not_run_and_say_why(self):
        summary = self.summary()
        self.assertEqual(summary["outcome"], "passed without a GPU")
        self.assertIsNone(summary["gpu"])
        text = (self.out / "summary.txt").read_text()
        self.assertTrue(text.startswith("GPU: none, no NVIDIA driver"), text)
        self.assertEqual(summary["figures"], [])
        for step in summary["steps"]:
            if step["name"] not in NEED_A_GPU:
                continue
            self.assertEqual(step["outcome"], "not-run", step)
            self.assertIn("no NVIDIA driver", step["reason"])


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
