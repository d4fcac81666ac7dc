package mail

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/e2e/e2etest"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// TestSeedsGetCopiesThatNoReportCounts sends a broadcast to three contacts and to the seeds of a list
// that is included by default. The copies arrive, their links record nothing, and a seed whose address
// does not exist is retired. The numbers of the broadcast are those of the contacts alone.
func TestSeedsGetCopiesThatNoReportCounts(t *testing.T) {
	t.Parallel()
	dbtest.Addresses(t, func(t *testing.T, address string) {
		t.Parallel()
		ctx := t.Context()
		store := t.TempDir()
		_, ready, s := e2etest.Start(t, address, "-store", store, "-refuse", "dead@.*=550 5.1.1 no such user")
		var emails []string
		for _, email := range []string{"ann@example.org", "ben@example.org", "cid@example.org"} {
			e2etest.Must(t, ready.Key, http.MethodPost, "/contacts", map[string]any{"email": email, "first_name": "Dear"})
			emails = append(emails, email)
		}
		e2etest.Must(t, ready.Key, http.MethodPost, "/segments/"+ready.List+"/members", map[string]any{"emails": emails})
		e2etest.Must(t, ready.Key, http.MethodPost, "/suppressions", map[string]any{"email": "blocked@example.net"})
		identities := e2etest.Must(t, ready.Key, http.MethodGet, "/sending-identities", nil)
		identity := identities["data"].([]any)[0].(map[string]any)["id"]
		list := e2etest.Must(t, ready.Owner, http.MethodPost, "/seed-lists", map[string]any{
			"name": "Vendor", "include_by_default": true, "sending_identity_ids": []any{identity},
		})["id"].(string)
		e2etest.Must(t, ready.Key, http.MethodPut, "/seed-lists/"+list+"/seeds", map[string]any{"seeds": []any{
			map[string]any{"email": "seed@example.net"}, map[string]any{"email": "dead@example.net"},
			map[string]any{"email": "blocked@example.net"}, map[string]any{"email": "ann@example.org"},
		}})
		lane, err := ready.Lane(ctx, "Relay", s.Address, 2, true)
		if err != nil {
			t.Fatal(err)
		}
		id, err := ready.Broadcast(ctx, lane, map[string]any{
			"subject": "Hello {{ first_name | default: \"you\" }}", "body_html": `<html><body><p><a href="https://www.example.com/offers">Offers</a></p></body></html>`,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := ready.Schedule(ctx, id); err != nil {
			t.Fatal(err)
		}
		within, cancel := context.WithTimeout(ctx, e2etest.Patience)
		defer cancel()
		b, err := ready.Await(within, id, "completed")
		if err != nil {
			t.Fatal(err)
		}
		if b["total_recipients"] != 3.0 || b["sent"] != 3.0 {
			t.Errorf("total_recipients = %v, sent = %v; want 3 and 3", b["total_recipients"], b["sent"])
		}
		progress := b["view_model"].(map[string]any)["delivery_progress"].(map[string]any)
		if copies := progress["seed_copies"].(map[string]any); copies["sent"] != 2.0 || copies["skipped_stale"] != 0.0 {
			t.Errorf("seed_copies = %v, want 2 sent", copies)
		}
		mails := e2etest.Stored(t, store)
		if len(mails) != 4 || mails["seed@example.net"] == nil || mails["ann@example.org"] == nil {
			t.Fatalf("%d mails arrived, want those to three contacts and one seed: %v", len(mails), mails)
		}
		copied := mails["seed@example.net"]
		if got := copied.GetHeader("Subject"); got != "Hello you" {
			t.Errorf("the subject of a copy is %q", got)
		}
		oneClick := regexp.MustCompile(`<(https?://[^>]+/_q/u/[^>]+)>`).FindStringSubmatch(copied.GetHeader("List-Unsubscribe"))
		if oneClick == nil {
			t.Fatalf("List-Unsubscribe of a copy is %q", copied.GetHeader("List-Unsubscribe"))
		}
		for _, address := range []string{oneClick[1], strings.Replace(oneClick[1], "/_q/u/", "/_q/p/", 1)} { // another token is not valid there
			answer, err := http.PostForm(address, url.Values{"List-Unsubscribe": {"One-Click"}, "action": {"unsubscribe_all"}})
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if want := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[address == oneClick[1]]; answer.StatusCode != want {
				t.Errorf("POST %s: %d, want %d", address, answer.StatusCode, want)
			}
		}
		e2etest.Wait(t, 3*time.Second) // an earlier click counts as a machine's
		e2etest.Visit(t, e2etest.Pixel(t, copied), http.StatusOK)
		e2etest.Visit(t, e2etest.Link(t, copied, "Offers"), http.StatusFound)
		e2etest.Visit(t, e2etest.Link(t, mails["ben@example.org"], "Offers"), http.StatusFound) // counted, and so are hits before it

		retired := e2etest.Eventually(t, func() ([]any, bool) {
			seeds := e2etest.Must(t, ready.Key, http.MethodGet, "/seed-lists/"+list+"/seeds?status=retired", nil)["data"].([]any)
			return seeds, len(seeds) > 0
		})
		if len(retired) != 1 || retired[0].(map[string]any)["email"] != "dead@example.net" || retired[0].(map[string]any)["status_reason"] != "hard_bounce" {
			t.Errorf("the retired seeds are %v", retired)
		}
		wants := map[string]any{"total_recipients": 3.0, "total_sent": 3.0, "total_delivered": 3.0, "total_bounced": 0.0, "total_clicked": 1.0, "total_unsubscribed": 0.0}
		report := e2etest.Eventually(t, func() (map[string]any, bool) {
			r := e2etest.Must(t, ready.Key, http.MethodGet, "/broadcasts/"+id+"/report", nil)
			return r, agree(r, wants) == ""
		})
		if diff := agree(report, wants); diff != "" {
			t.Errorf("the report: %s", diff)
		}
		for _, email := range []string{"seed@example.net", "dead@example.net"} {
			if a, err := ready.Key.Do(ctx, http.MethodGet, "/contacts/lookup?email="+email, nil); err != nil || a.Status != http.StatusNotFound {
				t.Errorf("the seed %s is a contact: %d, %v", email, a.Status, err)
			}
		}
		overview := e2etest.Must(t, ready.Owner, http.MethodGet, "/reports/overview", nil)["totals"].(map[string]any)
		if diff := agree(overview, wants); diff != "" {
			t.Errorf("the overview: %s", diff)
		}
		recipients := e2etest.Must(t, ready.Key, http.MethodGet, "/broadcasts/"+id+"/recipients", nil)["data"].([]any)
		if len(recipients) != 3 {
			t.Errorf("the broadcast has the recipients %v", recipients)
		}
	})
}
