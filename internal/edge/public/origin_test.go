package public_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// An open does not query the database before its hit is stored, and of the
// clicks on mails that say the same and have the same sender only the first one does.
func TestOnlyTheFirstClickQueriesTheDatabase(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		m, err := outbox.Find(t.Context(), p.DB, p.Tenant, p.message.ID)
		if err != nil {
			t.Fatal(err)
		}
		path := func(kind track.Kind) string {
			s, err := p.keys.Signer(p.Tenant, m.ID)
			if err != nil {
				t.Fatal(err)
			}
			s.SetOrigin(m.Content, m.Identity)
			return "/_q/" + string(kind) + "/" + string(s.Append(nil, kind, 0, ""))
		}
		lookUps := func(path string, status int) (n int) {
			t.Helper()
			ctx := sqldb.WithQueryTrace(t.Context(), func(text string, _ []any) {
				if strings.Contains(text, "FROM outbox") {
					n++
				}
			})
			w := httptest.NewRecorder()
			p.mux.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", path, nil))
			if w.Code != status {
				t.Errorf("%s: %d, want %d", path[:5], w.Code, status)
			}
			return n
		}
		if n := lookUps(path(track.OpenPixel)+".gif", 200); n != 0 {
			t.Errorf("an open looks its message up %d times", n)
		}
		if first, second := lookUps(path(track.ClickLink), 302), lookUps(path(track.ClickLink), 302); first != 1 || second != 0 {
			t.Errorf("two clicks look messages up %d and %d times", first, second)
		}
		for range 2 { // a token that contradicts its message is not cached
			if n := lookUps(p.path(track.ClickLink, 0, ""), 302); n != 1 {
				t.Errorf("a click of unknown origin looks its message up %d times", n)
			}
		}
		if hits := p.hits(); len(hits) < 2 || hits[0].Send != p.send || hits[0].Contact != p.contact.ID || hits[0].SinceSent == nil {
			t.Errorf("hits are %+v", hits)
		}
	})
}
