package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFlowListsTheFollowers holds the list of docs/flow.md to the followers of the journal and their order.
func TestFlowListsTheFollowers(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "flow.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## 11. Followers\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var got, want []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(section, -1) {
		got = append(got, m[1])
	}
	for _, f := range followers(time.Now, nil) {
		want = append(want, f.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/flow.md does not list the followers there are (-want +got):\n%s", diff)
	}
}
