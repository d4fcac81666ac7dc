package internal

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// folders are the subjects of the program, top first. A package imports packages of its own folder
// and of those below it (ARCHITECTURE.md, "Who may import whom").
var folders = []string{
	"edge", "engine", "view", "campaign", "audience", "message", "senders",
	"content", "people", "account", "mail", "sqldb", "base",
}

// apart are imports that the folders allow and that are forbidden all the same: because there is an
// interface for the purpose, or because of what the imported package can do.
var apart = map[string][]string{
	"engine/watch":    {"campaign/broadcast"}, // outbox.Pauser
	"engine/deliver":  {"campaign/broadcast"}, // a send and its terms are enough
	"engine/classify": {"campaign/broadcast"},
	"view/report":     {"campaign/broadcast"},
	"view/activity":   {"campaign/broadcast"},                                // activity.Names
	"message/render":  {"base/secret"},                                       // code that serves recipients opens no DKIM key
	"edge/public":     {"base/secret", "campaign/broadcast", "edge/httpapi"}, // outbox.Labeler
}

func TestImportsPointDown(t *testing.T) {
	const prefix = "github.com/packetboat/packetboat/internal/"
	depth := func(pkg string) int { // -1: in no folder
		folder, _, _ := strings.Cut(pkg, "/")
		return slices.Index(folders, folder)
	}
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := map[string]bool{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&pkg); err != nil {
			t.Fatal(err)
		}
		from, ok := strings.CutPrefix(pkg.ImportPath, prefix)
		if !ok {
			continue
		}
		seen[from] = true
		if depth(from) < 0 {
			t.Errorf("package %s is in none of the folders %s", from, strings.Join(folders, ", "))
			continue
		}
		for _, imported := range pkg.Imports {
			to, ours := strings.CutPrefix(imported, prefix)
			if !ours {
				continue
			}
			if strings.HasSuffix(to, "test") && !strings.HasSuffix(from, "test") {
				t.Errorf("%s imports %s, which is for tests", from, to)
			}
			if slices.ContainsFunc(apart[from], func(f string) bool { return to == f || strings.HasPrefix(to, f+"/") }) {
				t.Errorf("%s must not import %s", from, to)
			}
			if depth(to) < depth(from) {
				t.Errorf("%s imports %s: a folder imports only folders below it (%s)", from, to, strings.Join(folders, ", "))
			}
		}
	}
	if len(seen) < 100 {
		t.Fatalf("only %d packages were checked", len(seen))
	}
	for from, forbidden := range apart {
		for _, pkg := range append(forbidden, from) {
			if !seen[pkg] {
				t.Errorf("apart names %s, which does not exist", pkg)
			}
		}
	}
}
