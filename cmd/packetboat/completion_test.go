package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheShellCompletesCommands(t *testing.T) {
	t.Parallel()
	p := program{t: t}
	bash := filepath.Join(t.TempDir(), "completion.bash")
	if err := os.WriteFile(bash, []byte(p.ok("completion", "bash")), 0o600); err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string][]string{
		"ten":                     {"tenant"},
		"tenant c":                {"create"},
		"tenant create --sl":      {"--slug"},
		"--log-level debug ten":   {"tenant"},
		"serve --ho":              {"--hold"},
		"serve --roles w":         {"worker"},
		"serve --admin-l":         {"--admin-listen"},
		"completion z":            {"zsh"},
		"apikey create --tenant ": nil, // anything
		"--vers":                  {"--version"},
	} {
		words := strings.Split("packetboat "+typed, " ")
		quoted := "'" + strings.Join(words, "' '") + "'"
		out, err := exec.CommandContext(t.Context(), "bash", "-c", fmt.Sprintf(
			`. '%s'; COMP_WORDS=(%s); COMP_CWORD=%d; _packetboat; printf '%%s\n' "${COMPREPLY[@]}"`, bash, quoted, len(words)-1)).CombinedOutput()
		if got := strings.Fields(string(out)); err != nil || !slices.Equal(got, want) {
			t.Errorf("packetboat %s is completed to %q, %v; want %q", typed, got, err, want)
		}
	}
	if out := p.ok("completion", "zsh"); !strings.HasPrefix(out, "# Completion of packetboat for zsh") {
		t.Errorf("the script for zsh begins %.40q", out)
	}
	fish := p.ok("completion", "fish")
	for _, want := range []string{
		`complete -c packetboat -n '__packetboat_at "/tenant"' -a create -d '`,
		`complete -c packetboat -n '__packetboat_at "/serve"' -l hold -d '`,
		"complete -c packetboat -l config -r -F -d '",
	} {
		if !strings.Contains(fish, want) {
			t.Errorf("the script for fish lacks %s", want)
		}
	}
	if o := p.run("", "completion", "tcsh"); o.status != exitUsage || !strings.Contains(o.err, "fish") {
		t.Errorf("completion tcsh = %+v", o)
	}
}

func TestTheVersionIsAFlagToo(t *testing.T) {
	t.Parallel()
	p := program{t: t}
	if flag, command := p.ok("--version"), p.ok("version"); flag != command || !strings.HasPrefix(flag, "packetboat ") {
		t.Errorf("--version prints %q, version %q", flag, command)
	}
}
