package public_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/message/track"
)

// preview returns the path of a link of a test mail, with the id of the message that
// was sent, so that only the mark distinguishes the two.
func (p *recipientFixture) preview(kind track.Kind, target string) string {
	p.t.Helper()
	s, err := p.keys.Signer(p.Tenant, p.message.ID)
	if err != nil {
		p.t.Fatal(err)
	}
	s.Preview()
	path := "/_q/" + string(rune(kind)) + "/" + string(s.Append(nil, kind, 0, target))
	if kind == track.OpenPixel {
		path += ".gif"
	}
	return path
}

func TestLinksOfTestMailsRedirectAndRecordNothing(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		before := p.person()
		for _, tt := range []struct {
			method, path string
			want         int
			location     string
		}{
			{"GET", p.preview(track.OpenPixel, ""), 200, ""},
			{"GET", p.preview(track.ClickLink, "https://example.org/x?y=1#z"), 302, "https://example.org/x?y=1#z"},
			{"HEAD", p.preview(track.ClickLink, "https://example.org/"), 302, "https://example.org/"},
			{"GET", p.preview(track.ClickLink, "javascript:alert(1)"), 404, ""},
			{"GET", p.preview(track.ClickLink, ""), 404, ""},
			{"GET", p.preview(track.Unsubscribe, ""), 200, ""},
			{"POST", p.preview(track.Unsubscribe, ""), 200, ""},
			{"GET", p.preview(track.Preferences, ""), 200, ""},
			{"GET", p.preview(track.View, ""), 200, ""},
		} {
			w := p.do(tt.method, tt.path, nil)
			if w.Code != tt.want || w.Header().Get("Location") != tt.location {
				t.Errorf("%s %s: %d to %q, want %d to %q", tt.method, tt.path[:5], w.Code, w.Header().Get("Location"), tt.want, tt.location)
			}
			if tt.method == "POST" && w.Body.Len() > 0 {
				t.Errorf("one click is answered %s", w.Body)
			}
			if strings.Contains(w.Body.String(), "<form") {
				t.Errorf("%s offers something: %s", tt.path[:5], w.Body)
			}
		}
		if n := len(p.hits()); n > 0 || p.person() != before || p.sums() != (track.Sums{}) {
			t.Errorf("%d hits, sums %+v; the contact was %s, is %s", n, p.sums(), before, p.person())
		}
		if err := tenant.Delete(t.Context(), p.DB, p.Tenant, p.now); err != nil {
			t.Fatal(err)
		}
		if w := p.do("GET", p.preview(track.ClickLink, "https://example.org/"), nil); w.Code != http.StatusGone {
			t.Errorf("a link of a deleted tenant: %d, want 410", w.Code)
		}
	})
}
