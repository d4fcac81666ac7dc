package seedlist

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/id"
)

func TestProvidersAreInferredFromDomains(t *testing.T) {
	for email, want := range map[string]Provider{
		"a@gmail.com": Gmail, "a@googlemail.com": Gmail, "a@outlook.com": Outlook, "a@hotmail.co.uk": Outlook, "a@live.fr": Outlook, "a@msn.com": Outlook,
		"a@yahoo.com": Yahoo, "a@yahoo.co.jp": Yahoo, "a@yahoo.com.br": Yahoo, "a@ymail.com": Yahoo, "a@rocketmail.com": Yahoo, "a@aol.com": AOL, "a@aol.de": AOL,
		"a@icloud.com": ICloud, "a@me.com": ICloud, "a@mac.com": ICloud, "a@proton.me": Proton, "a@protonmail.com": Proton, "a@pm.me": Proton,
		"a@example.com": Other, "a@live.example.com": Other, "a@notgmail.com": Other, "a@gmail.com.evil.example": Other, "a@me.example": Other, "": Other,
	} {
		if got := inferProvider(email); got != want {
			t.Errorf("inferProvider(%s) = %s, want %s", email, got, want)
		}
	}
}

// TestUpdatesCountEachSeedOnce compares random updates to the rules of each seed, and their counts to
// the seeds before and after.
func TestUpdatesCountEachSeedOnce(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(rt *rapid.T) {
		list := id.New[id.SeedList]()
		known, contacts := map[string]Seed{}, map[string]bool{}
		r := Request{Kind: rapid.SampledFrom([]Kind{Replace, Changes}).Draw(rt, "kind"), DryRun: true, Changes: true}
		added, removed := map[string]bool{}, map[string]bool{}
		for i := range 12 {
			email := fmt.Sprintf("s%d@gmail.com", i)
			s := Seed{ID: id.New[id.Seed](), List: list, Email: email, Provider: Gmail}
			s.Status = rapid.SampledFrom(append(Statuses(), "")).Draw(rt, "status")
			switch s.Status {
			case Retired:
				s.Reason, s.RetiredAt = rapid.SampledFrom([]Reason{RemovedByUpdate, RetiredByUser, HardBounce}).Draw(rt, "reason"), &now
			case Conflict:
				s.Reason = IsContact
			}
			if s.Status != "" {
				known[email] = s
			}
			contacts[email] = rapid.Bool().Draw(rt, "contact")
			if added[email] = rapid.Bool().Draw(rt, "add"); added[email] {
				r.Add = append(r.Add, Entry{Email: email})
			}
			if removed[email] = r.Kind == Changes && rapid.Bool().Draw(rt, "remove"); removed[email] {
				r.Remove = append(r.Remove, email)
			}
		}
		after := map[string]Seed{}
		maps.Copy(after, known)
		u := newUpdate(r)
		inserted, changed := u.plan(list, known, contacts, now)
		listed := map[Outcome]int{}
		for _, c := range u.result.Changes {
			listed[c.Change]++
		}
		for o, n := range map[Outcome]int{
			Added: u.result.Added, Reactivated: u.result.Reactivated, Left: u.result.Retired, Unchanged: u.result.Unchanged,
			Held: u.result.HeldAsContact.Count, HandRetired: u.result.HandRetired.Count, RemovedUnknown: u.result.RemovedUnknown, Invalid: 0,
		} {
			if listed[o] != n {
				rt.Fatalf("%d addresses are listed as %s, %d counted", listed[o], o, n)
			}
		}
		for _, s := range append(inserted, changed...) {
			after[s.Email] = s
		}
		sendable, retired := 0, 0
		for email, s := range after {
			before := known[email]
			sendable += s.sendable()
			if before.Status != Retired && s.Status == Retired {
				retired++
			}
			stays := before.Status == Retired && before.Reason != RemovedByUpdate
			leaves := r.Kind == Replace && !added[email] || removed[email] && !added[email]
			var want Status
			switch {
			case stays, leaves && before.Status != "":
				want = Retired
			case added[email] && contacts[email]:
				want = Conflict
			case added[email] && before.Status == Paused:
				want = Paused
			case added[email]:
				want = Active
			default:
				want = before.Status
			}
			if s.Status != want {
				rt.Errorf("%s is %s after %s, want %s", email, s.Status, before.Status, want)
			}
			if (s.Status == Retired) != (s.RetiredAt != nil) || (s.Status == Active || s.Status == Paused) != (s.Reason == "") {
				rt.Errorf("%s is inconsistent: %+v", email, s)
			}
		}
		c := u.result
		if c.SendableAfter != sendable || c.Retired != retired || c.LargeChange != (2*c.SendableAfter < c.SendableBefore) {
			rt.Errorf("the result is %+v, with %d sendable and %d retired seeds", c, sendable, retired)
		}
		if n := c.Added + c.Reactivated + c.Unchanged + c.HeldAsContact.Count + c.HandRetired.Count + c.RemovedUnknown; n > len(r.Add)+len(r.Remove) || r.Kind == Replace && n != len(r.Add) {
			rt.Errorf("%d seeds are counted of %d and %d named", n, len(r.Add), len(r.Remove))
		}
		again := newUpdate(r)
		if inserted, changed := again.plan(list, after, contacts, now); len(inserted)+len(changed) != 0 || again.result.Added+again.result.Reactivated+again.result.Retired != 0 {
			rt.Errorf("the same update again changes %v and %v", inserted, changed)
		}
	})
}
