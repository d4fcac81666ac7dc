package transfer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/engine/transfer"
	"github.com/packetboat/packetboat/internal/people/contact"
)

// A status in a file is applied where it is worse than the contact's own, and never where it is better.
func TestAStatusInAFileOnlyGetsWorse(t *testing.T) {
	words := map[string]contact.Status{
		"active": contact.Active, "Subscribed": contact.Active, "": contact.Active, "  ": contact.Active, "pending": contact.Pending, "Unconfirmed": contact.Pending,
		"unsubscribed": contact.Unsubscribed, "Blocklisted": contact.Unsubscribed, "blocked": contact.Unsubscribed, "disabled": contact.Unsubscribed, "Non-Subscribed": contact.Unsubscribed, "opted out": contact.Unsubscribed,
		"bounced": contact.Bounced, "hard_bounce": contact.Bounced, "Cleaned": contact.Bounced, "COMPLAINED": contact.Complained, "Marked as spam": contact.Complained, "suppressed": contact.Suppressed,
	}
	each(t, func(d *fixture) {
		var file strings.Builder
		file.WriteString("email,global_status\n")
		want := map[string]contact.Status{}
		add := func(email, word string, status contact.Status) {
			fmt.Fprintf(&file, "%s,%s\n", email, word)
			want[email] = status
		}
		stopped, n := 0, 0
		for word, status := range words {
			n++
			add(fmt.Sprintf("new%d@example.org", n), word, status)
			if status != contact.Active {
				stopped++
			}
			for _, own := range contact.Statuses() {
				n++
				email := fmt.Sprintf("%s%d@example.org", own, n)
				d.inStatus(email, own)
				result := own
				switch {
				case own == contact.Pending && status != contact.Pending:
					result = status
				case status != contact.Pending && worse(status, own):
					result = status
				}
				if result != own && result != contact.Active {
					stopped++
				}
				add(email, word, result)
			}
		}
		for _, dry := range []bool{true, false} {
			j := d.load(file.String(), transfer.Options{DryRun: dry})
			r, _, err := transfer.ImportResultOf(j)
			d.ok(err)
			if r.Invalid != 0 || r.Stopped != int64(stopped) || int(r.Rows) != len(want) {
				d.Errorf("dry run %t: %+v, want %d stopped", dry, r, stopped)
			}
		}
		for email, status := range want {
			c := d.contact(email)
			if c.Status != status {
				d.Errorf("%s is %s, want %s", email, c.Status, status)
			}
			if strings.HasPrefix(email, "new") && (status == contact.Suppressed && (c.StatusBeforeSuppress == contact.Active || c.SuppressedAt == nil) || status == contact.Unsubscribed && c.UnsubscribedAt == nil) {
				d.Errorf("%s = %+v", email, c)
			}
		}
		again := d.load(file.String(), transfer.Options{})
		if r, _, err := transfer.ImportResultOf(again); err != nil || r.Stopped != 0 || r.Created != 0 {
			d.Errorf("again = %+v %v", r, err)
		}
	})
}

// worse reports whether a status replaces another.
func worse(a, b contact.Status) bool {
	rank := map[contact.Status]int{contact.Active: 1, contact.Unsubscribed: 2, contact.Bounced: 3, contact.Complained: 4, contact.Suppressed: 5}
	return rank[a] > rank[b]
}

// inStatus makes a contact with a status.
func (d *fixture) inStatus(email string, status contact.Status) {
	d.Helper()
	d.save(email, contact.Change{Status: status})
	if c := d.contact(email); c.Status != status {
		d.Fatalf("%s is %s, want %s", email, c.Status, status)
	}
}

// The column of a status is found by its name, and what is no status is refused rather than taken for consent.
func TestTheColumnOfAStatus(t *testing.T) {
	each(t, func(d *fixture) {
		for i, c := range []struct {
			header, row string
			mapping     map[string]string
			want        contact.Status // empty: refused
		}{
			{"status", "blocklisted", nil, contact.Unsubscribed},
			{"Status", "unsubscribed", nil, contact.Unsubscribed},
			{"Global Status", "bounced", nil, contact.Bounced},
			{"Subscription Status", "unconfirmed", nil, contact.Pending},
			{"subscriber-status", "blocklisted", nil, contact.Unsubscribed},
			{"Zustand", "complained", map[string]string{"Zustand": "global_status"}, contact.Complained},
			{"Zustand", "complained", nil, contact.Active},
			{"status", "customer", nil, ""},
			{"status", "customer", map[string]string{"status": ""}, contact.Active},
			{"global_status", "gone", nil, ""},
			{"status,global_status", "active,unsubscribed", nil, contact.Unsubscribed},
			{"status,global_status", "bounced,active", nil, contact.Bounced},
			{"status,global_status", "pending,active", nil, contact.Pending},
		} {
			email := fmt.Sprintf("c%d@example.org", i)
			j := d.load("email,"+c.header+"\n"+email+","+c.row+"\n", transfer.Options{Mapping: c.mapping})
			if c.want == "" {
				if rows := d.errors(j); len(rows) != 2 || !strings.Contains(rows[1][3], "unsubscribed, bounced") || rows[1][1] != c.header {
					d.Errorf("%+v = %s %q", c, d.resultText(j), rows)
				}
				continue
			}
			if got := d.contact(email).Status; got != c.want {
				d.Errorf("%+v: the contact is %s", c, got)
			}
		}
	})
}

// A column that looks like a status is left out with a warning, unless the mapping says what it is.
func TestAColumnThatLooksLikeAStatusIsWarnedOf(t *testing.T) {
	each(t, func(d *fixture) {
		for _, tt := range []struct {
			header, cells string
			mapping       map[string]string
			want          bool
		}{
			{"email,Zustand", "subscribed,cleaned,,blocklisted", nil, true},
			{"email,Zustand", "subscribed,cleaned", map[string]string{"Zustand": ""}, false},
			{"email,Zustand", "subscribed,cleaned", map[string]string{"Zustand": "global_status"}, false},
			{"email,Zustand", "subscribed,active", nil, false},
			{"email,Zustand", "cleaned,painted", nil, false},
			{"email,status", "active,cleaned", nil, false},
		} {
			var text strings.Builder
			text.WriteString(tt.header + "\n")
			for i, cell := range strings.Split(tt.cells, ",") {
				text.WriteString(fmt.Sprintf("a%d@example.org,%s\n", i, cell))
			}
			w := d.report(d.load(text.String(), transfer.Options{Mapping: tt.mapping, DryRun: true})).Warnings
			if (len(w) == 1) != tt.want || tt.want && w[0].Path != "options.mapping.Zustand" {
				d.Errorf("%s, %s: %+v", tt.header, tt.cells, w)
			}
		}
	})
}
