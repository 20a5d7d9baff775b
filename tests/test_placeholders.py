from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.errors import UsageError
from warmstart.placeholders import fill_words, find_code_words, refuse_in_code

NAMES = ("prompt", "prompt_file", "workdir")
READ_AS_CODE = r"""
sh -c 'echo "{prompt}"'
sh -c {prompt}
/bin/sh -ec 'x {prompt}'
bash -lc "agent {prompt}"
bash -o pipefail -c 'a {prompt}'
bash -eo pipefail -c 'a {prompt}'
bash -c -x 'a {prompt}'
sh -c -- 'a {prompt}'
bash --norc -c 'a {prompt}'
zsh -ic 'a {workdir}'
fish --command='a {prompt}'
fish -c 'a {prompt}'
env A=1 sh -c 'a {prompt}'
env -S 'agent {prompt}'
env -S'agent {prompt}'
env --split-string='agent {prompt}'
timeout 5 sh -c 'a {prompt}'
docker exec -i box sh -c 'a {prompt}'
kubectl exec pod -- /bin/bash -c 'a {prompt}'
xargs -0 sh -c 'a {prompt}'
su - bob -c 'a {prompt}'
su -c 'a {prompt}' bob
sudo -u bob bash -c 'a {prompt}'
python -c 'print("{prompt}")'
python3.12 -Ic 'print("{prompt}")'
python3 -W ignore -c 'x {prompt}'
python3 -c{prompt}
uv run python -c 'x={prompt}'
node -e 'x("{prompt}")'
node --eval='x("{prompt}")'
node -pe '{prompt}'
node -r ./x -e '{prompt}'
deno eval 'x {prompt}'
perl -e 'print "{prompt}"'
perl -pi.bak -e 's/x/{prompt}/'
perl -lane 'print {prompt}'
ruby -rjson -e 'puts "{prompt}"'
php -r 'echo "{prompt}";'
php -d x=1 -r 'echo "{prompt}";'
lua -e 'x {prompt}'
Rscript -e 'x {prompt}'
awk 'BEGIN {x = "{prompt}"}'
awk -F , 'BEGIN {x = "{prompt}"}'
sed -e 's/x/{prompt}/' f
sed 's/x/{prompt}/' f
sed -i 's/x/{prompt}/' f
sed -i '' 's/x/{prompt}/' f
ssh host 'agent "{prompt}"'
ssh -p 22 host agent {prompt}
eval {prompt}
watch agent {prompt}
make run PROMPT={prompt}
cmd /c agent {prompt}
cmd.exe /C "agent {prompt}"
powershell -Command "agent {prompt}"
pwsh -c agent {prompt}
claude.cmd -p {prompt}
'C:\Windows\System32\cmd.exe' /c {prompt}
busybox sh -c 'a {prompt}'
script -qc 'agent {prompt}' /dev/null
flock lock -c 'agent {prompt}'
nix-shell --run 'agent {prompt}'
psql -c 'select {prompt}'
npx -c 'agent {prompt}'
sh -c 'echo ${prompt}'
"""
TAKEN_AS_IT_IS = r"""
agent {prompt}
sh -c 'agent "$1"' - {prompt}
sh -c 'agent "$1" "$2"' - --prompt={prompt} --dir={workdir}
bash script.sh -c {prompt}
python agent.py -c {prompt}
python -m agent -c {prompt}
python3 -u {workdir}/agent.py {prompt}
python -c 'import sys; print(sys.argv[1])' {prompt}
python -c 'import sys' -c {prompt}
node agent.js -e {prompt}
node -e 'x(process.argv[1])' {prompt}
claude -p {prompt} --allowedTools Bash -c
claude --allowedTools Bash -c {prompt}
env PROMPT={prompt} agent
env -u X PROMPT={prompt} agent -S {prompt}
timeout 60 my-agent --in={workdir} {prompt}
docker run -e X={prompt} node agent {prompt}
warmstart run {start} -- claude -p {prompt}
pwsh -File agent.ps1 {prompt}
perl agent.pl -e {prompt}
perl -Mre agent.pl {prompt}
ruby -Ilib agent.rb {prompt}
npx my-agent -c {prompt}
codex exec {prompt}
hermes chat -q {prompt}
gemini -p {prompt}
awk -f prog.awk {prompt_file}
"""


@pytest.mark.parametrize("line", READ_AS_CODE.strip().splitlines())
def test_a_placeholder_that_would_be_run_is_refused(line: str) -> None:
    with pytest.raises(UsageError, match="reads as code") as caught:
        refuse_in_code(shlex.split(line), NAMES)
    assert "{prompt_file}" in (caught.value.hint or "")


@pytest.mark.parametrize("line", TAKEN_AS_IT_IS.strip().splitlines())
def test_a_placeholder_that_is_taken_as_it_is_is_allowed(line: str) -> None:
    refuse_in_code(shlex.split(line), NAMES)


def test_the_program_that_reads_a_word_is_named() -> None:
    assert find_code_words(["timeout", "5", "/bin/sh", "-c", "x", "y"]) == {4: "/bin/sh"}


def test_every_placeholder_of_a_word_is_filled_once() -> None:
    values = {"prompt": "a {workdir} {prompt}", "workdir": "/w", "x": ""}
    words = ["{prompt}|{workdir}|{prompt}|{other}|{}|{x}", "{{workdir}}", "{workdir"]
    assert fill_words(words, values) == [
        "a {workdir} {prompt}|/w|a {workdir} {prompt}|{other}|{}|", "{/w}", "{workdir",
    ]  # fmt: skip


@given(st.text(), st.text(), st.text(alphabet="{}prompt ab"))
def test_filling_is_replacing_in_one_pass(one: str, two: str, around: str) -> None:
    word = f"{around}{{prompt}}{around}{{workdir}}"
    [filled] = fill_words([word], {"prompt": one, "workdir": two})
    pieces = [piece.split("{workdir}") for piece in word.split("{prompt}")]
    assert filled == one.join(two.join(piece) for piece in pieces)


@given(
    st.lists(
        st.sampled_from(
            ["sh", "-c", "-", "--", "env", "-S", "python3", "x", "ssh", "-o", "{prompt}"]
        )
    )
)
def test_any_command_is_looked_at_without_a_crash(words: list[str]) -> None:
    assert set(find_code_words(words)) <= set(range(len(words)))
