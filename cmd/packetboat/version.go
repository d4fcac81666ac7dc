package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

type versionCommand struct{}

// Run prints the version, the commit and the build tags.
func (versionCommand) Run(c *console) error {
	b := programBuild()
	return c.show(b, "%s\n", b)
}

// build describes what a program was built from.
type build struct {
	Version  string   `json:"version"` // of the module: a release, a pseudo-version, or 0.0.0-dev
	Commit   string   `json:"commit"`  // empty when the build knows none
	Modified bool     `json:"modified"`
	Tags     []string `json:"tags"` // build tags
	Go       string   `json:"go"`
}

func (b build) String() string {
	var facts []string
	if b.Commit != "" {
		commit := "commit " + b.Commit
		if b.Modified {
			commit += " with changes"
		}
		facts = append(facts, commit)
	}
	if len(b.Tags) > 0 {
		facts = append(facts, "tags "+strings.Join(b.Tags, " "))
	}
	return fmt.Sprintf("packetboat %s (%s)", b.Version, strings.Join(append(facts, b.Go), ", "))
}

// programBuild returns what this program was built from.
func programBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build{Version: "0.0.0-dev", Tags: []string{}, Go: runtime.Version()}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) build {
	b := build{Version: "0.0.0-dev", Tags: []string{}, Go: info.GoVersion}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = strings.TrimPrefix(v, "v")
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "-tags":
			b.Tags = strings.FieldsFunc(s.Value, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return b
}
