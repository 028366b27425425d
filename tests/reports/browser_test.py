#!/usr/bin/env python3
"""browser_test.py HOT_ANALYZE: the HTML report of the shipped model in headless Chromium.

A script that is added to a copy of the page acts as its reader and leaves what it saw in an
attribute of the page, which Chromium then prints.
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ANALYZE = None  # the program, from the command line


def chromium(page, *options):
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    command += ["--virtual-time-budget=5000", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@unittest.skipUnless(CHROMIUM, "chromium is not installed (apt-get install chromium)")
class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.page = pathlib.Path(cls.folder.name) / "report.html"
        plan = cls.page.with_name("plan.json")
        # Layer by layer: a plan that doesn't hang on how busy the machine is.
        cls.analyze(cls.page, [], "--policy", "layerwise", "--plan", plan)
        cls.analyze(cls.page.with_name("inspect.html"), ["inspect"])
        cls.analyze(cls.page.with_name("verify.html"), ["verify"], "--plan", plan)
        cls.analyze(cls.page.with_name("profile.html"), ["profile"], "--plan", plan)
        front = ("--policy", "auto", "--max-error", "0.3")
        cls.analyze(cls.page.with_name("auto.html"), [], *front)
        train = ("--plan", plan, "--steps", "12")
        cls.analyze(cls.page.with_name("train.html"), ["train"], *train)

    @staticmethod
    def analyze(page, verb, *options):
        models = ROOT / "models"
        command = [ANALYZE, *verb, models / "digits_vit.pt", *options, "--html", page, "--quiet"]
        command += ["--data", models / "digits_calibration.pt"]
        subprocess.run(command, check=True, timeout=300)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def seen(self, script, *options, text=None):
        """What `script`, the body of a function, returns inside the page (or one of this text)."""
        copy = self.page.with_name("acted.html")
        act = f"document.body.dataset.seen = JSON.stringify((() => {{{script}}})());"
        text = text or self.page.read_text(encoding="utf-8")
        copy.write_text(text.replace("</body>", f"<script>{act}</script></body>"), "utf-8")
        run = chromium(copy, "--dump-dom", *options)
        self.assertNotIn("CONSOLE", run.stderr)
        found = re.search(r'data-seen="([^"]*)"', run.stdout)
        self.assertTrue(found, run.stderr + run.stdout[-2000:])
        return json.loads(html.unescape(found[1]))

    def test_it_draws_without_a_word_in_the_console(self):
        seen = self.seen(
            """return {drawn: document.documentElement.dataset.drawn,
                 empty: document.querySelectorAll('[data-draw]:empty').length,
                 heat: document.querySelectorAll('.heat td.pick').length,
                 bars: document.querySelectorAll('.bars rect').length};"""
        )
        self.assertEqual((seen["drawn"], seen["empty"]), ("yes", 0))
        self.assertGreater(seen["heat"], 10)
        self.assertGreater(seen["bars"], 20)

    def test_reports_without_all_stages_draw_too(self):
        script = """return [document.documentElement.dataset.drawn,
                            document.querySelectorAll('#gradients tbody tr').length];"""
        for name in ("inspect.html", "verify.html", "profile.html", "auto.html"):
            with self.subTest(page=name):
                text = self.page.with_name(name).read_text(encoding="utf-8")
                drawn, rows = self.seen(script, text=text)
                self.assertEqual(drawn, "yes")
                self.assertGreater(rows, 20)

    def text_of(self, name):
        return self.page.with_name(name).read_text(encoding="utf-8")

    def test_every_chart_is_drawn(self):
        """Front, memory, roofline and times: marks inside their drawing area, words on the axes."""
        script = """
          const inside = [...document.querySelectorAll('svg.plot')].every(plot => {
            const [, , width, height] = plot.getAttribute('viewBox').split(' ').map(Number);
            const marks = 'circle:not(.here), rect, path, polyline, polygon, text';
            return [...plot.querySelectorAll(marks)]
              .every(mark => { const box = mark.getBBox();
                return box.x >= -1 && box.y >= -1 && box.x + box.width <= width + 1 &&
                  box.y + box.height <= height + 1; }); });
          const all = selector => [...document.querySelectorAll(selector)];
          const texts = id => all(`#${id} svg.plot text`).map(t => t.textContent);
          return {inside, sections: all('[data-draw]').map(d => d.dataset.draw),
            front: texts('front'), memory: texts('memory'), roofline: texts('roofline'),
            areas: document.querySelectorAll('#memory .area').length,
            dots: document.querySelectorAll('#roofline circle').length,
            times: document.querySelectorAll('#times tbody tr').length};"""
        auto = self.seen(script, text=self.text_of("auto.html"))
        self.assertTrue(auto["inside"])
        sections = ["errors", "front", "costs", "memory", "roofline", "layers"]
        self.assertEqual(auto["sections"], sections)
        for mark in ("this plan", "exact", "hot", "hlq"):
            self.assertEqual(auto["front"].count(mark), 2, mark)
        self.assertIn("FLOP per byte of operands and result →", auto["roofline"])
        self.assertTrue(any(text.startswith("peak ") for text in auto["memory"]))
        self.assertGreaterEqual(auto["areas"], 6)  # of the exact step and the plan's
        self.assertGreaterEqual(auto["dots"], 27)
        profile = self.seen(script, text=self.text_of("profile.html"))
        self.assertTrue(profile["inside"])
        self.assertEqual(profile["sections"], ["steps", "memory", "roofline", "layers"])
        self.assertGreaterEqual(profile["dots"], 14 * 3)
        self.assertEqual(profile["times"], 17 + 3)

    def test_points_are_read_by_keyboard(self):
        script = """return ['front', 'memory', 'roofline'].map(id => {
            const plot = document.querySelector(`#${id} svg.plot`);
            plot.focus();
            const read = key => { plot.dispatchEvent(new KeyboardEvent('keydown', {key}));
              return document.getElementById('tip').textContent; };
            return [document.activeElement === plot, read('ArrowRight'), read('ArrowRight')]; });"""
        seen = self.seen(script, text=self.text_of("auto.html"))
        for focused, first, second in seen:
            self.assertTrue(focused)
            self.assertNotEqual(first, second)
            self.assertRegex(first + second, r"\((modelled|measured)\)")

    def test_training_is_drawn_without_a_script(self):
        text = self.page.with_name("train.html").read_text(encoding="utf-8")
        script = """const lines = [...document.querySelectorAll('svg[role=img] polyline')];
                    return [lines.map(line => line.points.length),
                            lines.every(line => line.getBBox().height > 0),
                            document.documentElement.scrollWidth, innerWidth];"""
        for width in (400, 1280):
            points, drawn, content, window = self.seen(
                script, f"--window-size={width},900", text=text
            )
            self.assertEqual(points, [12, 12, 12])
            self.assertTrue(drawn)
            self.assertLessEqual(content, window)

    def test_two_hundred_layers_are_drawn_at_once(self):
        """The shipped model's layers, over and over, as many as a large model has."""
        text = self.page.read_text(encoding="utf-8")
        begin = text.index('id="data">') + len('id="data">')
        end = text.index("</script>", begin)
        data = json.loads(text[begin:end])
        times = -(-200 // len(data["layers"]))
        data["layers"] *= times
        data["errors"] = [path * times for path in data["errors"]]
        large = json.dumps(data).replace("<", "\\u003c")
        script = """return [document.querySelectorAll('#gradients tbody tr').length,
                            performance.now()];"""
        rows, milliseconds = self.seen(script, text=text[:begin] + large + text[end:])
        self.assertGreaterEqual(rows, 400)
        self.assertLess(milliseconds, 10_000)

    def test_sorting_by_error_both_ways(self):
        read = """const head = [...document.querySelectorAll('#gradients thead th')]
                    .find(th => th.textContent === 'error');
                  const errors = () => [...document.querySelectorAll('#gradients tbody tr')]
                    .map(row => row.children[6].textContent).filter(Boolean).map(Number);
                  const result = [];
                  for (const _ of [0, 1]) {
                    head.querySelector('button').click();
                    result.push([head.getAttribute('aria-sort'), errors()]);
                  }
                  return result;"""
        (first, down), (second, up) = self.seen(read)
        self.assertEqual((first, second), ("descending", "ascending"))
        self.assertGreater(len(down), 10)
        self.assertEqual(down, sorted(down, reverse=True))
        self.assertEqual(up, sorted(up))

    def test_filtering(self):
        seen = self.seen(
            """const search = document.querySelector('input[type=search]');
               search.value = 'mlp int8';
               search.dispatchEvent(new Event('input'));
               const rows = document.querySelectorAll('#gradients tbody tr');
               return [...rows].map(row => row.textContent);"""
        )
        self.assertGreater(len(seen), 3)
        for row in seen:
            self.assertRegex(row, "mlp.*int8")

    def test_rows_open_to_numbers_and_reasons_and_close(self):
        opened, closed = self.seen(
            """const row = [...document.querySelectorAll('#gradients tbody tr')]
                 .find(r => r.textContent.includes('int8'));
               const opener = row.querySelector('button');
               opener.click();
               const opened = row.nextElementSibling.textContent + opener.ariaExpanded;
               opener.click();
               return [opened, document.querySelectorAll('.details').length];"""
        )
        parts = (
            "relative error",
            "measured",
            "Why none+int8",
            "plan's kernels",
            "GFLOP/s exact",
            "true",
        )
        for part in (*parts, "whatever scheme", "exact weight ms"):
            self.assertIn(part, opened)
        self.assertEqual(closed, 0)

    def test_all_schemes_can_be_read_by_keyboard(self):
        seen = self.seen(
            """const select = document.querySelector('#errors select');
               select.value = 'schemes';
               select.dispatchEvent(new Event('change'));
               const map = document.querySelector('#errors svg');
               map.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown'}));
               return document.getElementById('tip').textContent;"""
        )
        self.assertRegex(seen, r"input gradient\n\S+\nrelative error [0-9.]+")

    def test_nothing_is_wider_than_a_narrow_window(self):
        script = "return [document.documentElement.scrollWidth, innerWidth];"
        for width in (400, 1280):
            content, window = self.seen(script, f"--window-size={width},900")
            self.assertLessEqual(content, window)

    def test_the_colours_of_text_can_be_read_in_light_and_dark(self):
        """WCAG's contrast of at least 4.5 for text, whichever scheme the reader prefers."""
        script = """
          const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
          const luminance = css => {
            const [r, g, b] = css.match(/[\\d.]+/g).map(Number).map(channel);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const ground = node => { for (; node; node = node.parentElement) {
            const colour = getComputedStyle(node).backgroundColor;
            if (!/, 0\\)|transparent/.test(colour)) return colour; } return 'rgb(255, 255, 255)'; };
          const low = [];
          for (const node of document.querySelectorAll('body *')) {
            if (!node.checkVisibility() || node.closest('svg, option, #tip')) continue;
            if (![...node.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
            const both = [getComputedStyle(node).color, ground(node)].map(luminance);
            if ((Math.max(...both) + 0.05) / (Math.min(...both) + 0.05) < 4.5)
              low.push(node.outerHTML.slice(0, 120));
          }
          return [getComputedStyle(document.body).backgroundColor, low.slice(0, 5)];"""
        grounds = set()
        for scheme in (0, 1):  # Blink's numbers: dark, light
            option = f"--blink-settings=preferredColorScheme={scheme}"
            ground, low = self.seen(script, option)
            grounds.add(ground)
            self.assertEqual(low, [])
        self.assertEqual(len(grounds), 2, "light and dark look the same")


if __name__ == "__main__":
    ANALYZE = sys.argv.pop(1)
    unittest.main()
