package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/edge/app"
)

// TestEveryOptionIsDocumented holds the table in docs/configuration.md to the
// code.
func TestEveryOptionIsDocumented(t *testing.T) {
	const begin, end = "-update -->\n", "<!-- end of options -->"
	var table strings.Builder
	table.WriteString("| environment | flag | default | |\n|---|---|---|---|\n")
	for _, o := range app.AllOptions() {
		byDefault := ""
		if o.Default != "" {
			byDefault = "`" + o.Default + "`"
		}
		table.WriteString("| `" + o.Env + "` | `--" + o.Name + "` | " + byDefault + " | " + strings.ReplaceAll(o.Help, "|", `\|`) + " |\n")
	}
	file := filepath.Join("..", "..", "..", "docs", "configuration.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	written, after, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatalf("%s has no place for the options", file)
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(table.String(), written); diff != "" {
		t.Errorf("%s does not show the options as they are (-update rewrites it):\n%s", file, diff)
	}
}
