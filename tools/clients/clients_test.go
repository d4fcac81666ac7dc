// Package clients tests that clients generated from openapi.json compile and work. Generators are fixed versions.
package clients

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const document = "../../internal/edge/httpapi/testdata/openapi.json"

// run runs a command in a directory and fails with what it prints.
func run(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out[max(0, len(out)-4000):])
	}
}

func abs(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

func TestGeneratedGoClientsWork(t *testing.T) {
	dir := t.TempDir()
	build := []string{"CGO_ENABLED=0"}
	run(t, "../..", build, "go", "build", "-o", filepath.Join(dir, "packetboat"), "./cmd/packetboat")
	server, key := start(t, filepath.Join(dir, "packetboat"))
	for _, tt := range []struct {
		name     string
		generate []string
	}{
		{"oapi", []string{"oapi-codegen", "-generate", "types,client", "-package", "api", "-o", "oapi/api/api.go", document}},
		{"ogen", []string{"ogen", "--config", "ogen/ogen.yml", "--target", "ogen/api", "--package", "api", "--clean", document}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, ".", build, "go", append([]string{"tool"}, tt.generate...)...)
			program := filepath.Join(dir, tt.name)
			run(t, ".", build, "go", "build", "-o", program, "./"+tt.name)
			run(t, ".", nil, program, server, key)
		})
	}
}

// start starts the program with an empty database and returns the address of its tenant, and an API key.
func start(t *testing.T, program string) (server, key string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	key = "pbk_" + strings.ToLower(rand.Text()[:12]) + "_" + (rand.Text() + rand.Text())[:43]
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, "serve")
	var log bytes.Buffer
	cmd.Stderr = &log
	cmd.Env = append(os.Environ(),
		"PACKETBOAT_DATA_DIR="+t.TempDir(), "PACKETBOAT_DATABASE_URL=sqlite:packetboat.db", "PACKETBOAT_LISTEN="+address, "PACKETBOAT_ADMIN_LISTEN=off",
		"PACKETBOAT_BASE_URL=http://"+address, "PACKETBOAT_BOOTSTRAP_TENANT_SLUG=acme", "PACKETBOAT_BOOTSTRAP_API_KEY="+key,
		"PACKETBOAT_BOOTSTRAP_ADMIN_EMAIL=owner@example.org", "PACKETBOAT_BOOTSTRAP_ADMIN_PASSWORD="+rand.Text())
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	for range 600 {
		if res, err := http.Get("http://" + address + "/api/openapi.json"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return "http://" + address + "/t/acme", key
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	_ = cmd.Wait()
	t.Fatalf("the program does not answer:\n%s", log.String())
	return "", ""
}

func TestGeneratedTypesCompile(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("NO NPM: what openapi-typescript generates is not tested. Install Node.js.")
	}
	const dir = "typescript"
	if err := exec.CommandContext(t.Context(), "npm", "ping", "--fetch-retries=0", "--fetch-timeout=20000").Run(); err != nil {
		t.Skipf("NO REGISTRY: what openapi-typescript generates is not tested, since npm reaches no registry: %v", err)
	}
	run(t, dir, nil, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	run(t, dir, nil, "node_modules/.bin/openapi-typescript", abs(t, document), "-o", "api.d.ts")
	run(t, dir, nil, "node_modules/.bin/tsc", "-p", ".")
	for _, name := range []string{"openapi.json", "openapi-app.json"} {
		lint(t, dir, abs(t, filepath.Join(filepath.Dir(document), name)))
	}
}

// lint fails if redocly has a problem with a document.
func lint(t *testing.T, dir, file string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node_modules/.bin/redocly", "lint", "--config", "redocly.yaml", "--format", "json", file)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	out, err := cmd.Output()
	var report struct {
		Totals struct{ Errors, Warnings int }
	}
	if bad := json.Unmarshal(out, &report); err != nil || bad != nil || report.Totals.Errors+report.Totals.Warnings > 0 {
		t.Errorf("redocly on %s: %v, %v\n%.4000s", filepath.Base(file), err, bad, out)
	}
}
