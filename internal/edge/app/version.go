package app

import (
	"runtime/debug"
	"strings"
)

// programVersion returns the version of the program: of its module, with the commit if it is known.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "0.0.0-dev"
	}
	version := strings.TrimPrefix(info.Main.Version, "v")
	if version == "" || version == "(devel)" {
		version = "0.0.0-dev"
	}
	for _, s := range info.Settings {
		if commit := s.Value; s.Key == "vcs.revision" && len(commit) >= 12 && !strings.Contains(version, commit[:12]) {
			version += "+" + commit[:12]
		}
	}
	return version
}
