package internal

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// bands are the layers of the program, top first. An import points down, or to
// the left within its band (ARCHITECTURE.md, "Who may import whom").
var bands = []struct {
	name     string
	packages string
}{
	{"edges", "endpoint httpapi public webapp inspect doctor demo app"},
	{"engines", "bulk transfer engine/classify engine/watch engine/dispatch engine/flow engine/deliver engine/inbound engine/inbound/inboundtest engine/notify retention"},
	{"sending", "outbox track preference event visitor render recipient rule segment savedfilter form broadcast broadcast/broadcasttest preview report activity webhook notice trigger sequence eligibility automation search recount overview"},
	{"records", "field contactsearch contact consent maildomain suppression score lane sender seedlist asset content template template/starter draft library mailbox"},
	{"spine", "change tenant ratelimit pace destination leader hold traffic certificate workingcopy auth journal outage usage testmail job"},
	{"libraries", "mail/phrase mail/address mail/mx mail/dnstest mail/liquid mail/markup mail/links mail/textpart mail/inline mail/mjml mail/binding mail/compose mail/dkim mail/dkim/libcrypto mail/reply mail/dsn mail/dmarc mail/dnscheck mail/smtpclient mail/imapbox mail/imapbox/dovecottest mail/mtasts mail/dane mail/directmx mail/ses mail/sns mail/sns/snstest mail/hook"},
	{"ground", "fault geoip language id id/idtest calendar cache netguard poll porttest route slug secret spread turns sqldb revision sqldb/dbtest sqldb/dbcopy"},
}

// apart are imports that the bands allow and that are forbidden all the same: because there is an
// interface for the purpose, or because of what the imported package can do.
var apart = map[string][]string{
	"engine/watch":    {"broadcast"}, // outbox.Pauser
	"engine/deliver":  {"broadcast"}, // a send and its terms are enough
	"engine/classify": {"broadcast"},
	"report":          {"broadcast"},
	"activity":        {"broadcast"},                      // activity.Names
	"render":          {"secret"},                         // code that serves recipients opens no DKIM key
	"public":          {"secret", "broadcast", "httpapi"}, // outbox.Labeler
}

func TestImportsPointDown(t *testing.T) {
	const prefix = "github.com/packetboat/packetboat/internal/"
	type place struct{ band, column int }
	places := map[string]place{}
	for b, band := range bands {
		for c, p := range strings.Fields(band.packages) {
			places[p] = place{b, c}
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
			t.Errorf("package %s is in no band: add it here and in ARCHITECTURE.md", from)
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
			if !ok || there.band < at.band || there.band == at.band && there.column > at.column {
				t.Errorf("%s (%s) imports %s: imports point down, or to the left in a band", from, bands[at.band].name, to)
			}
		}
	}
	if seen < 10 {
		t.Fatalf("only %d packages were checked", seen)
	}
}
