package public_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/campaign/broadcast/broadcasttest"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/mailbox"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

const plain = "Subject: Hello\r\n\r\nx"

func TestMailIsUnreadUntilItIsOpened(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSite(t, db, true)
		path := s.deliver(s.mine, plain, noon)
		s.deliver(s.mine, plain, noon)
		s.deliver(s.other, plain, noon)
		expect := func(after, want string, unread int) {
			t.Helper()
			_, body := s.get("/mailbox/")
			if !strings.Contains(body, want) || strings.Count(body, `class="unread"`) != unread {
				t.Errorf("after %s the list shows %d unread mails, want %q and %d: %s", after, strings.Count(body, `class="unread"`), want, unread, body)
			}
		}
		expect("delivery", "2 mails, 2 unread.", 2)
		s.get(path + "/html")
		s.get(path, func(r *http.Request) { r.Header.Set("Sec-Purpose", "prefetch") })
		s.get(path, func(r *http.Request) { r.Method = http.MethodHead })
		expect("requests that show nothing", "2 mails, 2 unread.", 2)
		s.get(path)
		s.get(path)
		expect("opening one", "2 mails, 1 unread.", 1)
		if res, _ := s.post("/mailbox/acme/read", nil); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/mailbox/?tenant=acme" {
			t.Errorf("mark all as read = %d to %s", res.StatusCode, res.Header.Get("Location"))
		}
		expect("marking all", "2 mails, 0 unread.", 0)
		if groups, err := mailbox.Groups(t.Context(), db, s.other.ID); err != nil || len(groups) != 1 || groups[0].Unread != 1 {
			t.Errorf("the other tenant's mail = %+v, %v", groups, err)
		}
	})
}

func TestMailIsGroupedByBroadcast(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSite(t, db, true)
		s.deliver(s.mine, plain, noon)
		b, err := broadcast.Create(t.Context(), draft.Author{DB: db, Now: noon}, s.mine.ID, broadcast.Change{
			Name:    new("Spring <news>"),
			Content: &draft.Change{Parts: map[draft.Field]*string{draft.Subject: new("Spring"), draft.BodyHTML: new("<p>Spring</p>")}},
		}, broadcasttest.By)
		if err != nil {
			t.Fatal(err)
		}
		s.send = b.Send
		s.deliver(s.mine, "Subject: One\r\n\r\nx", noon)
		s.deliver(s.mine, "Subject: Two\r\n\r\nx", noon)
		s.send = id.New[id.Send]()
		s.deliver(s.mine, "Subject: Three\r\n\r\nx", noon)
		_, body := s.get("/mailbox/")
		for _, want := range []string{
			`<span class="name">Spring &lt;news&gt;</span> <span class="soft">2, 2 unread</span>`,
			`<span class="name">A deleted broadcast</span> <span class="soft">1, 1 unread</span>`,
			`<span class="name">Tests of MTA configs</span> <span class="soft">1, 1 unread</span>`, "4 mails, 4 unread.",
		} {
			if !strings.Contains(body, want) {
				t.Errorf("the list lacks %q: %s", want, body)
			}
		}
		for group, subjects := range map[string][]string{b.ID.String(): {"Two", "One"}, "none": {"Hello"}, s.send.String(): {"Three"}, "no-such\x00": nil} {
			_, body := s.get("/mailbox/?broadcast=" + url.QueryEscape(group))
			if got := strings.Count(body, `class="subject"`); got != len(subjects) {
				t.Errorf("broadcast %q shows %d mails, want %d", group, got, len(subjects))
			}
			for _, subject := range subjects {
				if !strings.Contains(body, subject) {
					t.Errorf("broadcast %q does not show %s", group, subject)
				}
			}
		}
	})
}

func TestDeletingMailNeedsTheRole(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newSite(t, db, false)
		one := s.deliver(s.mine, plain, noon)
		theirs := s.deliver(s.other, plain, noon)
		s.send = id.New[id.Send]()
		s.deliver(s.mine, plain, noon)
		all := url.Values{"until": {"9999999999999999"}}
		if res, _ := s.post(one+"/delete", nil); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("without a login = %d, want 401", res.StatusCode)
		}
		s.post("/mailbox/sign-in", url.Values{"email": {"ann@example.org"}, "password": {password}})
		for _, path := range []string{one + "/delete", "/mailbox/acme/delete"} {
			if res, _ := s.post(path, all); res.StatusCode != http.StatusForbidden {
				t.Errorf("POST %s by a viewer = %d, want 403", path, res.StatusCode)
			}
		}
		if _, body := s.get("/mailbox/"); strings.Contains(body, "Delete") {
			t.Error("a viewer is offered to delete mail")
		}
		s.page.Open = append(s.page.Open, s.other) // shown without a login, as the demo's is
		foreign := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }
		if res, _ := s.post(theirs+"/delete", nil, foreign); res.StatusCode != http.StatusForbidden {
			t.Errorf("from another site = %d, want 403", res.StatusCode)
		}
		if res, _ := s.post("/mailbox/nobody/delete", all); res.StatusCode != http.StatusNotFound {
			t.Errorf("of an unknown tenant = %d, want 404", res.StatusCode)
		}
		if res, _ := s.post(theirs+"/delete", nil); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/mailbox/?tenant=other" {
			t.Errorf("in an open mailbox = %d to %s, want 303", res.StatusCode, res.Header.Get("Location"))
		}
		if res, _ := s.post(theirs+"/delete", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("again = %d, want 404", res.StatusCode)
		}
		s.page.Open = append(s.page.Open[:0], s.mine)
		s.client.Jar = nil // not signed in any more
		for _, until := range []string{"", "x"} {
			if res, _ := s.post("/mailbox/acme/delete", url.Values{"until": {until}}); res.StatusCode != http.StatusBadRequest {
				t.Errorf("until %q = %d, want 400", until, res.StatusCode)
			}
		}
		total := func() (n int) {
			groups, err := mailbox.Groups(t.Context(), db, s.mine.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range groups {
				n += g.Total
			}
			return n
		}
		s.post("/mailbox/acme/delete", url.Values{"until": {"1"}})
		if n := total(); n != 2 {
			t.Errorf("%d mails are left of 2 that came after the page was shown", n)
		}
		s.post("/mailbox/acme/delete", url.Values{"until": all["until"], "broadcast": {s.send.String()}})
		if n := total(); n != 1 {
			t.Errorf("%d mails are left after one broadcast's were deleted, want 1", n)
		}
		s.post("/mailbox/acme/delete", all)
		if n := total(); n != 0 {
			t.Errorf("%d mails are left after all were deleted", n)
		}
	})
}
