package internal

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// rows are the layers of the program, top first. An import points down, or to
// the left within its row (ARCHITECTURE.md, "Who may import whom").
var rows = []struct {
	name     string
	packages string
}{
	{"app", "app"},
	{"edges", "endpoint httpapi public"},
	{"engines", "engine/classify engine/watch engine/dispatch engine/deliver"},
	{"results", "report activity job bulk transfer"},
	{"senders", "broadcast broadcast/broadcasttest"},
	{"audience", "rule segment savedfilter"},
	{"waist", "outbox track letter"},
	{"material", "lane sender binding content template template/starter manuscript library mailbox"},
	{"people", "field contactsearch contact maildomain suppression score"},
	{"spine", "tenant limit pace leader hold traffic auth journal usage testmail"},
	{"mail", "mail/address mail/mx mail/liquid mail/markup mail/links mail/textpart mail/inline mail/mjml mail/compose mail/dkim mail/dkim/libcrypto mail/reply mail/smtpclient"},
	{"ground", "fault id id/idtest cache poll route slug secret spread sqldb sqldb/dbtest sqldb/dbcopy"},
}

// apart are imports that the rows allow but that are forbidden, because there is an interface in
// place of the import, or because the importing package must not be able to do what the other does.
var apart = map[string][]string{
	"engine/watch":    {"broadcast"}, // outbox.Pauser
	"engine/deliver":  {"broadcast"}, // a send and its terms are enough
	"engine/classify": {"broadcast"},
	"report":          {"broadcast"},
	"activity":        {"broadcast"},                      // activity.Names
	"letter":          {"secret"},                         // processes that answer recipients open no DKIM keys
	"public":          {"secret", "broadcast", "httpapi"}, // outbox.Labeler
}

// TestImportsPointDown compares the imports of each package with rows.
func TestImportsPointDown(t *testing.T) {
	const prefix = "github.com/packetboat/packetboat/internal/"
	type place struct{ row, column int }
	places := map[string]place{}
	for r, row := range rows {
		for c, p := range strings.Fields(row.packages) {
			places[p] = place{r, c}
		}
	}
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
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
		seen++
		at, ok := places[from]
		if !ok {
			t.Errorf("package %s is in no row: add it here and in ARCHITECTURE.md", from)
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
			if slices.Contains(apart[from], to) {
				t.Errorf("%s must not import %s", from, to)
			}
			there, ok := places[to]
			if !ok || there.row < at.row || there.row == at.row && there.column > at.column {
				t.Errorf("%s (%s) imports %s: imports point down, or to the left in a row", from, rows[at.row].name, to)
			}
		}
	}
	if seen < 10 {
		t.Fatalf("only %d packages were checked", seen)
	}
}
