package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// archive makes a package's archive of files with their contents.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestPackagesAreUnpackedWithinTheirDirectory(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "inside")
	if err := os.Mkdir(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unpack(archive(t, map[string]string{"package/lib/a.js": "a", "package/lib/a.js.map": "{}"}), inside); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(inside, "lib", "a.js")); err != nil || string(text) != "a" {
		t.Errorf("lib/a.js is %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(inside, "lib", "a.js.map")); err == nil {
		t.Error("a source map was unpacked")
	}
	_ = unpack(archive(t, map[string]string{"package/../../outside.js": "x"}), inside)
	if _, err := os.Stat(filepath.Join(dir, "outside.js")); err == nil {
		t.Error("a file was written outside of the directory")
	}
}

func TestLockFilesAreReadStrictly(t *testing.T) {
	for name, tt := range map[string]struct{ lock, want string }{
		"of another version":  {`{"lockfileVersion": 2, "packages": {}}`, "not 3"},
		"an install script":   {`{"lockfileVersion": 3, "packages": {"node_modules/x": {"version": "1.0.0", "hasInstallScript": true}}}`, "install script"},
		"no hash":             {`{"lockfileVersion": 3, "packages": {"node_modules/x": {"version": "1.0.0", "integrity": "sha1-xx"}}}`, "no SHA-512"},
		"another directory":   {`{"lockfileVersion": 3, "packages": {"node_modules/../../x": {"version": "1.0.0", "integrity": "sha512-AAAA"}}}`, "not a directory"},
		"for another machine": {`{"lockfileVersion": 3, "packages": {"node_modules/x": {"version": "1.0.0", "os": ["plan9"]}}}`, ""},
	} {
		file := filepath.Join(t.TempDir(), "package-lock.json")
		if err := os.WriteFile(file, []byte(tt.lock), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := readLock(file)
		if tt.want == "" {
			if err != nil || len(all) != 0 {
				t.Errorf("%s: %v, %v; want nothing", name, all, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, tt.want)
		}
	}
}

func TestSchemasBecomeTypes(t *testing.T) {
	for _, tt := range []struct {
		s    schema
		want string
	}{
		{schema{Type: "integer"}, "number"},
		{schema{Type: []any{"string", "null"}}, "string | null"},
		{schema{Enum: []any{"a", nil}}, `"a" | null`},
		{schema{Ref: "#/components/schemas/Contact"}, "Contact"},
		{schema{Type: "array", Items: &schema{Type: []any{"string", "null"}}}, "(string | null)[]"},
		{schema{Type: "object", AdditionalProperties: []byte(`{"type": "boolean"}`)}, "{ [key: string]: boolean }"},
		{schema{Type: "object", Properties: map[string]schema{"a-b": {Type: "string"}, "c": {Type: "boolean"}}, Required: []string{"c"}}, "{\n\t\"a-b\"?: string;\n\tc: boolean;\n}"},
		{schema{}, "unknown"},
	} {
		if got := tt.s.typescript(0); got != tt.want {
			t.Errorf("the type of %+v is %s, want %s", tt.s, got, tt.want)
		}
	}
}
