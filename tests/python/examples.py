#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""examples.py CLI SOURCE_DIR: the workflow and the hooks of data/examples, step by step as their readers run them, on the demo
network: they pass with the preset that is there, and fail with one that is worse, with a report all the same."""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CLI, SOURCE = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests" / "oracle"))
import oracle    # noqa: E402

oracle.use_oracle_python()
try:
    import yaml
except ImportError as error:
    oracle.skip(str(error))

EXAMPLES = SOURCE / "data" / "examples"
GOOD, WORSE = "--preset cpu", "--preset mx6"
n_checked = 0
faults = []


def check(good, what):
    global n_checked
    n_checked += 1
    if not good:
        faults.append(what)
        print("not ok", what, flush=True)


def make_repository(folder):
    shutil.copy(SOURCE / "data" / "demo" / "demo.onnx", folder / "model.onnx")
    shutil.copytree(SOURCE / "data" / "demo" / "samples", folder / "samples")
    (folder / "bin").mkdir()
    (folder / "bin" / "vernier-cli").symlink_to(CLI)


def environment(folder, **more):
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    return dict(os.environ, PATH=path, HOME=str(folder), GITHUB_STEP_SUMMARY=str(folder / "summary.md"), **more)


def run_job(job, folder, variables):
    """Each step until one fails, and those that run always after it; returns which failed. What installs the package is done
    already."""
    failed = []
    for step in job["steps"]:
        always = "always()" in step.get("if", "")
        if failed and not always:
            continue
        if "upload-artifact" in step.get("uses", ""):
            check((folder / step["with"]["path"]).is_file(), f"{step['name']}: {step['with']['path']} is there")
        if "run" not in step or "pip install" in step["run"]:
            continue
        given = environment(folder, **{**variables, **step.get("env", {})})
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", step["run"]], cwd=folder, env=given, capture_output=True,
                              text=True)
        if done.returncode != 0:
            failed.append((step["name"], done.returncode, done.stderr))
    return failed


def check_workflow(folder):
    text = (EXAMPLES / "quantize.yml").read_text(encoding="utf-8")
    flow = yaml.safe_load(text)
    # "on" is YAML's true
    check(list(flow["jobs"]) == ["quantize"] and "pull_request" in flow[True], "the workflow is one of GitHub")
    variables = {name: value for name, value in flow["env"].items() if "${{" not in value}
    check(GOOD in variables["OPTIONS"], "the options have a preset")
    for options, names in ((variables["OPTIONS"], []), (variables["OPTIONS"].replace(GOOD, WORSE), ["Quantize"])):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        make_repository(folder)
        failed = run_job(flow["jobs"]["quantize"], folder, {**variables, "OPTIONS": options})
        check([name for name, _, _ in failed] == names and all(code == 1 for _, code, _ in failed), f"{options}: {failed}")
        summary = (folder / "summary.md").read_text(encoding="utf-8")
        check("**" in summary and "## " not in summary and len(summary) > 200, f"{options}: the verdict is shown")


def check_hooks(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    make_repository(folder)
    hooks = yaml.safe_load((EXAMPLES / "pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    check([hook["id"] for hook in hooks] == ["quantize", "compare"], "hooks")
    written = []
    for preset, status in ((GOOD, 0), (GOOD, 0), (WORSE, 1)):
        for hook in hooks:
            words = shlex.split(hook["entry"].replace(GOOD, preset))
            done = subprocess.run(words, cwd=folder, env=environment(folder), capture_output=True, text=True)
            check(done.returncode == status, f"{hook['id']} {preset}: {done.returncode} {done.stderr}")
        written.append((folder / "model.int8.onnx").read_bytes())
        check((folder / "report.html").stat().st_size > 10000, f"{preset}: report.html")
    check(written[0] == written[1] != written[2], "the same network gives the same bytes")


def main():
    with tempfile.TemporaryDirectory() as work:
        check_workflow(Path(work, "repository"))
        check_hooks(Path(work, "repository"))
    print(f"{n_checked} checks, {len(faults)} failed")
    sys.exit(bool(faults) or n_checked < 12)


main()
