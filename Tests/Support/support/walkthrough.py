"""The walk-through of a Markdown page: its marked shell blocks, run in one shell as they stand."""

import re
import secrets
import subprocess

MARK = "<!-- walk-through -->"
EXPECTATION = re.compile(r"^\s*#\s*→\s?(.*)$")


def blocks(markdown):
    """The ```sh blocks that follow a mark, each as its lines."""
    found, current, marked = [], None, False
    for line in markdown.splitlines():
        if current is not None:
            if line.strip() == "```":
                found.append(current)
                current, marked = None, False
            else:
                current.append(line)
        elif line.strip() == MARK:
            marked = True
        elif marked and line.strip() in ("```sh", "```bash", "```shell"):
            current = []
        elif line.strip():
            marked = False
    return found


def steps(lines):
    """Pairs of commands and the expectations after them."""
    result, commands, expected = [], [], []
    for line in lines:
        match = EXPECTATION.match(line)
        if match:
            expected.append(match.group(1))
            continue
        if expected:
            result.append(("\n".join(commands), expected))
            commands, expected = [], []
        commands.append(line)
    if "\n".join(commands).strip():
        result.append(("\n".join(commands), expected))
    return result


def matches(expected, output):
    """Whether output has the expectation; `…` stands for anything, white space counts once."""
    parts = [re.escape(" ".join(part.split())) for part in expected.split("…")]
    return re.search(".*?".join(parts), " ".join(output.split()), re.S) is not None


class Shell:
    """One bash that keeps its variables and directory over all steps."""

    def __init__(self, cwd, env):
        self.process = subprocess.Popen(
            ["bash", "--norc", "--noprofile"], cwd=cwd, env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.process.stdin.write("set -o pipefail\n")

    def run(self, commands):
        """The exit status (of the last command that failed, or 0) and the output of a step."""
        end = secrets.token_hex(8)
        self.process.stdin.write(
            f"__failed=0; trap '__failed=$?' ERR\n{{\n{commands}\n}} </dev/null\n"
            f"trap - ERR; printf '\\n{end} %d\\n' $__failed\n")
        self.process.stdin.flush()
        output = []
        for line in self.process.stdout:
            if line.startswith(end):
                return int(line.split()[1]), "".join(output)
            output.append(line)
        return self.process.wait(), "".join(output)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(30)
