package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/packetboat/packetboat/internal/base/nearest"
	"github.com/packetboat/packetboat/internal/edge/app"
)

// configFile holds the options of a configuration file, by name.
type configFile map[string]string

// readTOML reads the part of TOML that a list of options needs: one key = value
// a line, where a value is a string, a number, true or false, or a list of
// strings on one line.
func readTOML(r io.Reader) (kong.Resolver, error) {
	f := configFile{}
	var problems []error
	s := bufio.NewScanner(r)
	for n := 1; s.Scan(); n++ {
		if err := f.line(s.Text()); err != nil {
			problems = append(problems, fmt.Errorf("line %d: %w", n, err))
		}
	}
	if err := errors.Join(append(problems, s.Err())...); err != nil {
		return nil, fmt.Errorf("the configuration file has mistakes:\n%w", err)
	}
	return f, nil
}

func (f configFile) line(text string) error {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasPrefix(text, "#") {
		return nil
	}
	if strings.HasPrefix(text, "[") {
		return errors.New("sections are not used; write key = value lines alone")
	}
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New(`write key = value, such as listen = "127.0.0.1:8080"`)
	}
	key = strings.TrimSpace(key)
	name := strings.ReplaceAll(key, "_", "-")
	var names []string
	for _, o := range app.AllOptions() {
		names = append(names, o.Name)
	}
	if !slices.Contains(names, name) || strings.Contains(key, "-") && strings.Contains(key, "_") {
		if meant := nearest.Of(name, names); meant != "" {
			return fmt.Errorf("there is no option %q; did you mean %s?", key, strings.ReplaceAll(meant, "-", "_"))
		}
		return fmt.Errorf("there is no option %q; packetboat --help lists them", key)
	}
	if _, twice := f[name]; twice {
		return fmt.Errorf("%s is set twice", key)
	}
	v, err := tomlValue(strings.TrimSpace(value))
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	f[name] = v
	return nil
}

// tomlValue returns a value as a text; a list has commas between its items.
func tomlValue(s string) (string, error) {
	v, rest, err := tomlItem(s)
	if err != nil {
		return "", err
	}
	if rest = strings.TrimSpace(rest); rest != "" && !strings.HasPrefix(rest, "#") {
		return "", fmt.Errorf("%q follows the value", rest)
	}
	return v, nil
}

func tomlItem(s string) (value, rest string, err error) {
	switch {
	case s == "":
		return "", "", errors.New("has no value")
	case s[0] == '[':
		return tomlList(s[1:])
	case s[0] == '\'':
		if v, rest, ok := strings.Cut(s[1:], "'"); ok {
			return v, rest, nil
		}
		return "", "", errors.New("the string does not end")
	case s[0] == '"':
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", "", errors.New("the string does not end, or holds an unknown escape")
		}
		v, err := strconv.Unquote(quoted)
		return v, s[len(quoted):], err
	}
	end := strings.IndexAny(s, " \t#,]")
	if end < 0 {
		end = len(s)
	}
	word := s[:end]
	if _, err := strconv.ParseInt(strings.ReplaceAll(word, "_", ""), 10, 64); err == nil {
		return strings.ReplaceAll(word, "_", ""), s[end:], nil
	}
	if word == "true" || word == "false" {
		return word, s[end:], nil
	}
	return "", "", errors.New(`write strings in quotes, such as "127.0.0.1:8080"`)
}

func tomlList(s string) (value, rest string, err error) {
	var items []string
	for {
		s = strings.TrimSpace(s)
		if rest, ok := strings.CutPrefix(s, "]"); ok {
			return strings.Join(items, ","), rest, nil
		}
		if s == "" || s[0] == '[' {
			return "", "", errors.New("the list does not end on its line")
		}
		item, after, err := tomlItem(s)
		if err != nil {
			return "", "", err
		}
		items = append(items, item)
		if s = strings.TrimSpace(after); !strings.HasPrefix(s, "]") {
			var ok bool
			if s, ok = strings.CutPrefix(s, ","); !ok {
				return "", "", errors.New("write commas between the items of the list")
			}
		}
	}
}

// Validate has nothing to add: names were checked line by line.
func (f configFile) Validate(*kong.Application) error { return nil }

// Resolve gives the value for a flag that neither the command line nor the
// environment sets.
func (f configFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, env := range flag.Envs {
		if _, set := os.LookupEnv(env); set {
			return nil, nil
		}
	}
	if v, ok := f[flag.Name]; ok {
		return v, nil
	}
	return nil, nil
}
