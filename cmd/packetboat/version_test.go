package main

import (
	"encoding/json"
	"runtime/debug"
	"testing"
)

func TestVersionSaysVersionCommitAndTags(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{GoVersion: "go1.26.0"}, "packetboat 0.0.0-dev (go1.26.0)"},
		{debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "(devel)"}}, "packetboat 0.0.0-dev (go1.26.0)"},
		{
			debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
				{Key: "-tags", Value: "libcrypto,other"}, {Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "false"},
			}},
			"packetboat 1.2.3 (commit 0123456789abcdef, tags libcrypto other, go1.26.0)",
		},
		{
			debug.BuildInfo{GoVersion: "go1.26.0", Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}},
			"packetboat 0.0.0-dev (commit abc with changes, go1.26.0)",
		},
	} {
		if got := buildOf(&tt.info).String(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestVersionAsJSONIsTheSame(t *testing.T) {
	t.Parallel()
	p := program{t, nil}
	var b build
	if err := json.Unmarshal([]byte(p.ok("version", "--json")), &b); err != nil {
		t.Fatal(err)
	}
	if text := p.ok("version"); text != b.String()+"\n" {
		t.Errorf("version prints %q, as JSON %+v", text, b)
	}
}
