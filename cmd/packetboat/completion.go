package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/packetboat/packetboat/internal/edge/app"
)

// The scripts are generated from kong's model of the command line. The libraries
// for this have not been maintained for years, and make the shell run the
// program at each key; a script that is printed once needs neither.

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script.
func (cmd completionCommand) Run(c *console, parsed *kong.Context) error {
	s := script{paths: []string{""}, words: map[string][]word{}}
	s.add("", parsed.Model.Node)
	switch cmd.Shell {
	case "zsh":
		_, _ = io.WriteString(c.out, "# Completion of packetboat for zsh: source it after compinit.\nautoload -U +X bashcompinit && bashcompinit\n")
		return s.bash(c.out)
	case "fish":
		return s.fish(c.out)
	}
	return s.bash(c.out)
}

// word is a word that may follow a command.
type word struct {
	text, help string
	value      bool // a flag that takes one
}

// script is the command line as shells need it: the words that may follow each
// command. A path is the commands so far, such as /tenant/create.
type script struct {
	paths []string
	words map[string][]word
}

func (s *script) add(path string, n *kong.Node) {
	for _, child := range n.Children {
		if child.Hidden {
			continue
		}
		below := path + "/" + child.Name
		s.paths = append(s.paths, below)
		s.words[path] = append(s.words[path], word{text: child.Name, help: child.Help})
		s.add(below, child)
	}
	for _, arg := range n.Positional {
		for _, v := range arg.EnumSlice() {
			s.words[path] = append(s.words[path], word{text: v, help: arg.Name})
		}
	}
	for _, f := range n.Flags {
		if !f.Hidden {
			s.words[path] = append(s.words[path], word{text: "--" + f.Name, help: f.Help, value: !f.IsBool()})
		}
	}
}

// values returns the flags that take a value, and what some of them take.
func (s *script) values() (flags []string) {
	for _, path := range s.paths {
		for _, w := range s.words[path] {
			if w.value && !slices.Contains(flags, w.text) {
				flags = append(flags, w.text)
			}
		}
	}
	return flags
}

// roleWords are the values of --roles.
func roleWords() string {
	var out []string
	for _, r := range app.Roles() {
		out = append(out, string(r))
	}
	return strings.Join(out, " ")
}

func (s *script) bash(to io.Writer) error {
	var b strings.Builder
	b.WriteString(`# Completion of packetboat for bash: source it, or put it where bash-completion looks.
_packetboat() {
	local path= word words= skip= cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		if [ -n "$skip" ]; then skip=; continue; fi
		case "$word" in
`)
	fmt.Fprintf(&b, "\t\t%s) skip=1 ;;\n\t\t*) case \"$path/$word\" in\n", strings.Join(s.values(), "|"))
	fmt.Fprintf(&b, "\t\t\t%s) path=\"$path/$word\" ;;\n\t\t\tesac ;;\n\t\tesac\n\tdone\n", strings.Join(s.paths[1:], "|"))
	fmt.Fprintf(&b, `	case "$prev" in
	--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--data-dir) COMPREPLY=($(compgen -d -- "$cur")); return ;;
	--roles) COMPREPLY=($(compgen -W %q -- "$cur")); return ;;
	%s) return ;;
	esac
	case "$path" in
`, roleWords(), strings.Join(s.values(), "|"))
	for _, path := range s.paths {
		fmt.Fprintf(&b, "\t%q) words=%q ;;\n", path, strings.Join(s.texts(path), " "))
	}
	fmt.Fprintf(&b, `	esac
	COMPREPLY=($(compgen -W "$words %s" -- "$cur"))
}
complete -F _packetboat packetboat
`, strings.Join(s.flags(""), " "))
	_, err := io.WriteString(to, b.String())
	return err
}

// texts returns what may be typed at a place; the flags of every command are not
// repeated.
func (s *script) texts(path string) (out []string) {
	for _, w := range s.words[path] {
		if path != "" || !strings.HasPrefix(w.text, "--") {
			out = append(out, w.text)
		}
	}
	return out
}

func (s *script) flags(path string) (out []string) {
	for _, w := range s.words[path] {
		if strings.HasPrefix(w.text, "--") {
			out = append(out, w.text)
		}
	}
	return out
}

func (s *script) fish(to io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# Completion of packetboat for fish: ~/.config/fish/completions/packetboat.fish
function __packetboat_at
	set -l path
	for word in (commandline -opc)[2..-1]
		if contains -- "$path/$word" %s
			set path "$path/$word"
		end
	end
	test "$path" = "$argv[1]"
end
complete -c packetboat -f
`, strings.Join(s.paths[1:], " "))
	quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace
	for _, path := range s.paths {
		for _, w := range s.words[path] {
			at := fmt.Sprintf(` -n '__packetboat_at "%s"'`, path)
			what := " -a " + w.text
			if name, flag := strings.CutPrefix(w.text, "--"); flag {
				what = " -l " + name
				if path == "" {
					at = "" // it may stand behind every command
				}
			}
			if w.value {
				what += " -r"
			}
			switch w.text {
			case "--config", "--data-dir":
				what += " -F"
			case "--roles":
				what += " -a '" + roleWords() + "'"
			}
			fmt.Fprintf(&b, "complete -c packetboat%s%s -d '%s'\n", at, what, quote(w.help))
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}
