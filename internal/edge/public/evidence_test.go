package public_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/message/track"
)

// The invisible link answers like a link, is recorded as what it is, and counts nowhere.
func TestTheInvisibleLink(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		path := p.path(track.ClickLink, track.HoneypotLink, "")
		if w := p.do("GET", path, nil, "User-Agent", "Mozilla/5.0 X"); w.Code != 200 || !strings.Contains(w.Body.String(), "nothing to see") {
			t.Errorf("without a website: %d %s", w.Code, w.Body)
		}
		p.exec(`UPDATE tenant SET website_url = 'https://acme.example/' WHERE tenant_id = $1`, p.Tenant)
		p.now = p.now.Add(2 * 60 * 1e9)
		if w := p.do("HEAD", path, nil, "User-Agent", "Mozilla/5.0 X"); w.Code != 302 && w.Code != 200 { // settings are cached for a while
			t.Errorf("HEAD: %d %s", w.Code, w.Body)
		}
		hits := p.hits()
		if len(hits) != 2 {
			t.Fatalf("%d hits, want 2", len(hits))
		}
		for _, h := range hits {
			if !h.Honeypot || !h.Click || h.URL != "" || h.Class != track.Pending {
				t.Errorf("hit %+v", h)
			}
		}
		if s := p.sums(); s != (track.Sums{}) {
			t.Errorf("sums are %+v, want none", s)
		}
		if w := p.do("GET", p.path(track.ClickLink, track.HoneypotLink-1, ""), nil); w.Code != 404 {
			t.Errorf("another number: %d", w.Code)
		}
	})
}

// The button of the unsubscribe page proves that a person was there; one-click requests prove nothing,
// since programs make them.
func TestTheButtonProvesAPerson(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		proofs := func() []track.Proof {
			list, err := track.PendingProofs(t.Context(), p.DB, 10)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		path := p.path(track.Unsubscribe, 0, "")
		form := func(body string) {
			if w := p.do("POST", path, strings.NewReader(body), "Content-Type", "application/x-www-form-urlencoded"); w.Code != 200 {
				t.Fatalf("POST: %d %s", w.Code, w.Body)
			}
		}
		form("List-Unsubscribe=One-Click")
		if got := proofs(); len(got) != 0 {
			t.Errorf("a one-click request proves %v", got)
		}
		form("from=page")
		form("from=page")
		got := proofs()
		if len(got) != 1 || got[0].Message != p.message.ID || got[0].Tenant != p.Tenant || got[0].Kind != track.ProofUnsubscribe || !got[0].At.Equal(p.now) {
			t.Errorf("proofs are %+v", got)
		}
		if s := p.sums(); s != (track.Sums{Unsubscribed: 1}) {
			t.Errorf("sums are %+v", s)
		}
	})
}

// Requests are stored with the signals by which they are classified.
func TestSignalsOfRequestsAreStored(t *testing.T) {
	each(t, func(t *testing.T, p *recipientFixture) {
		path := p.path(track.ClickLink, 0, "")
		p.do("GET", path, nil, "User-Agent", "Mozilla/5.0 Chrome/142.0.0.0 Safari/537.36")
		p.do("GET", path, nil, "User-Agent", "Mozilla/5.0 Chrome/141.0.0.0 Safari/537.36", "Accept", "text/html", "Accept-Language", "de", "Accept-Encoding", "gzip",
			"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Sec-Fetch-User", "?1", "Sec-CH-UA", `"Chromium";v="141", "Not A;Brand";v="99"`)
		want := map[bool]track.Signals{
			true:  track.NoLanguage | track.NoEncoding | track.NoFetchMetadata,
			false: track.Navigated,
		}
		hits := p.hits()
		if len(hits) != 2 {
			t.Fatalf("%d hits", len(hits))
		}
		for _, h := range hits {
			if bare := strings.Contains(h.Agent, "142"); h.Signals != want[bare] {
				t.Errorf("%s: signals %b, want %b", h.Agent, h.Signals, want[bare])
			}
		}
	})
}
