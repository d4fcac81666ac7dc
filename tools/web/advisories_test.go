package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// report looks up advisories about three versions, one of them for development, at a registry with the given handler.
func report(t *testing.T, ctx context.Context, handler http.HandlerFunc) (warnings string, err error) {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	var out bytes.Buffer
	err = reportAdvisories(ctx, &out, server.URL, locked{"a": {"1.0.0": false, "2.0.0": false}, "@scope/b": {"1.5.0": true}})
	return out.String(), err
}

func TestAdvisoriesAboutLockedVersionsAreReported(t *testing.T) {
	answer := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var asked map[string][]string
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.Method != "POST" || r.URL.Path != "/-/npm/v1/security/advisories/bulk" ||
				strings.Join(asked["a"], " ") != "1.0.0 2.0.0" || strings.Join(asked["@scope/b"], " ") != "1.5.0" {
				t.Errorf("%s %s asks for %v, %v", r.Method, r.URL, asked, err)
			}
			_, _ = w.Write([]byte(text))
		}
	}
	for name, tt := range map[string]struct{ answer, problems, warnings string }{
		"none":              {`{}`, "", ""},
		"of one version":    {`{"a": [{"title": "Bad", "url": "https://x/1", "severity": "high", "vulnerable_versions": "<2.0.0"}]}`, "advisory about a 1.0.0: high (<2.0.0): \"Bad\" \"https://x/1\"", ""},
		"of no version":     {`{"a": [{"severity": "high", "vulnerable_versions": ">2.0.0"}], "c": [{"severity": "high", "vulnerable_versions": "*"}]}`, "", ""},
		"of low severity":   {`{"a": [{"severity": "low", "vulnerable_versions": "=2.0.0"}]}`, "", "web: warning: advisory about a 2.0.0: low"},
		"for development":   {`{"@scope/b": [{"severity": "critical", "vulnerable_versions": "*"}]}`, "", "web: warning: advisory about @scope/b 1.5.0: critical"},
		"of a new severity": {`{"a": [{"severity": "dire", "vulnerable_versions": "=2.0.0"}]}`, "advisory about a 2.0.0: dire", ""},
	} {
		warnings, err := report(t, t.Context(), answer(tt.answer))
		problems := ""
		if err != nil {
			problems = err.Error()
		}
		if !strings.HasPrefix(problems, tt.problems) || !strings.HasPrefix(warnings, tt.warnings) || (problems == "") != (tt.problems == "") || (warnings == "") != (tt.warnings == "") {
			t.Errorf("%s: problems %q, warnings %q; want %q, %q", name, problems, warnings, tt.problems, tt.warnings)
		}
	}
}

func TestARegistryWithoutAdvisoriesIsAWarning(t *testing.T) {
	write := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
	}
	for name, handler := range map[string]http.HandlerFunc{
		"404":            http.NotFound,
		"no JSON":        write("<html>\n<p>Sign in</p>"),
		"null":           write("null"),
		"a list":         write("[]"),
		"another object": write(`{"error": "not supported"}`),
		"other members":  write(`{"a": [{"id": 1}]}`),
		"too large":      write(`{"a": "` + strings.Repeat("x", maxAdvisories) + `"}`),
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{}`))
		},
	} {
		warnings, err := report(t, t.Context(), handler)
		if err != nil || strings.Count(warnings, "\n") != 1 || !strings.HasPrefix(warnings, "web: warning: advisories about npm packages could not be looked up: ") {
			t.Errorf("%s: %v, warnings %q; want one line that says so", name, err, warnings)
		}
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	warnings, err := report(t, ctx, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // until then, the server does not see that the client is gone
		<-r.Context().Done()
	})
	if err != nil || !strings.Contains(warnings, "could not be looked up") {
		t.Errorf("no answer in time: %v, warnings %q", err, warnings)
	}
}

func TestRangesOfAdvisories(t *testing.T) {
	for _, tt := range []struct {
		version, versions string
		want              bool
	}{
		{"1.4.1", "<1.4.2", true},
		{"1.4.2", "<1.4.2", false},
		{"1.4.2", "<= 1.4.2", true},
		{"1.4.2-rc.1", ">=1.0.0 <1.4.2", true},
		{"0.9.0", ">=1.0.0 <1.4.2", false},
		{"2.0.0", ">=1.0.0 <1.4.2 || =2.0.0", true},
		{"2.0.1", ">=1.0.0 <1.4.2||2.0.0", false},
		{"2.0.1", "*", true},
		{"2.0.1", "^1.0.0", true}, // a form that is not read
		{"2.0.1", "1.0.0 - 3.0.0", true},
		{"1.2.5", "<=1.2", true},
	} {
		if got := inRange(tt.version, tt.versions); got != tt.want {
			t.Errorf("%s is in %q: %v", tt.version, tt.versions, got)
		}
	}
}

func TestVersionsForDevelopmentOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "package-lock.json")
	lock := `{"lockfileVersion": 3, "packages": {"": {"name": "app"},
		"node_modules/a": {"version": "1.0.0", "dev": true}, "node_modules/b/node_modules/a": {"version": "1.0.0"}, "node_modules/c/node_modules/a": {"version": "1.0.0", "dev": true},
		"node_modules/@s/d": {"version": "2.0.0", "dev": true, "os": ["plan9"]}, "node_modules/alias": {"name": "e", "version": "3.0.0"}}}`
	if err := os.WriteFile(file, []byte(lock), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := lockedVersions(file)
	if err != nil || len(all) != 3 || all["a"]["1.0.0"] || !all["@s/d"]["2.0.0"] || len(all["e"]) != 1 {
		t.Errorf("%v, %v; want a and e of the application, and @s/d for development", all, err)
	}
}
