package watch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/senders/traffic"
)

// addProvider adds counts of mail to a provider.
func (w *fixture) addProvider(provider string, c traffic.ProviderCounts) {
	w.t.Helper()
	key := traffic.ProviderKey{Key: traffic.Key{Tenant: w.Tenant, Lane: w.Lane.ID, Domain: w.Domain.ID}, Provider: provider}
	w.must(traffic.AddByProvider(w.t.Context(), w.DB, w.now, map[traffic.ProviderKey]traffic.ProviderCounts{key: c}))
}

// warnings returns the warnings about the account's domain, in a short form.
func (w *fixture) warnings() string {
	w.t.Helper()
	all, err := sender.Warnings(w.t.Context(), w.DB, w.Tenant)
	w.must(err)
	var list []string
	for _, x := range all[w.Domain.ID] {
		about := x.Provider
		if !x.Broadcast.IsZero() {
			about = "list"
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %d/%d %g %s", x.Metric, x.Count, x.Of, x.Threshold, about)))
	}
	return strings.Join(list, "; ")
}

func (w *fixture) wantWarnings(when, want string) {
	w.t.Helper()
	if got := w.warnings(); got != want {
		w.t.Errorf("%s: warnings %q, want %q", when, got, want)
	}
}

// wantLogged checks how often the log has a text.
func (w *fixture) wantLogged(text string, n int) {
	w.t.Helper()
	if got := strings.Count(w.log.String(), text); got != n {
		w.t.Errorf("%q was logged %d times, want %d:\n%s", text, got, n, w.log.String())
	}
}

func (w *fixture) resumeDomain() {
	w.t.Helper()
	_, err := sender.PauseDomain(w.t.Context(), w.DB, w.Tenant, w.Domain.ID, sender.Pause{Reason: sender.PausedByOperator}, w.now)
	w.must(err)
	_, err = sender.ResumeDomain(w.t.Context(), w.DB, w.Tenant, w.Domain.ID, w.now)
	w.must(err)
}

func TestWarningsAboutProvidersNeedEvidence(t *testing.T) {
	each(t, func(w *fixture) {
		w.addProvider("icloud", traffic.ProviderCounts{Counts: traffic.Counts{Block: 100}, Auth: 100})
		w.tickAfter(time.Hour)
		w.addProvider("gmail", traffic.ProviderCounts{Counts: traffic.Counts{Delivered: 700, Block: 300}, Spam: 300})
		w.addProvider("outlook", traffic.ProviderCounts{Counts: traffic.Counts{Delivered: 50, Block: 50}, Spam: 50})
		w.addProvider("yahoo", traffic.ProviderCounts{Counts: traffic.Counts{Delivered: 10_000, Complained: 20}})
		w.addProvider("other", traffic.ProviderCounts{Counts: traffic.Counts{Delivered: 300, Complained: 1}})
		w.addProvider("aol", traffic.ProviderCounts{Counts: traffic.Counts{Delivered: 90, Block: 10}, Auth: 10})
		w.addProvider("proton", traffic.ProviderCounts{Counts: traffic.Counts{Delivered: 50, Block: 50}, Auth: 50})
		w.addProvider("zoho", traffic.ProviderCounts{Counts: traffic.Counts{Delivered: 150, Complained: 2, Block: 1}})
		w.addProvider("yandex", traffic.ProviderCounts{Counts: traffic.Counts{Block: 2}, Auth: 2})
		for range 3 {
			w.tickAfter(time.Minute)
		}
		w.wantWarnings("with enough of each", "auth_failure_rate 10/100 0.05 aol; auth_failure_rate 50/100 0.05 proton; complaint_rate 20/10000 0.001 yahoo; refusal_rate 300/1000 0.2 gmail")
		w.wantLogged("rate of domain at a provider is high", 4)
		w.wantLogged("warning about domain ended", 0)
		w.tickAfter(time.Hour)
		w.wantWarnings("an hour later", "complaint_rate 20/10000 0.001 yahoo; refusal_rate 300/1000 0.2 gmail")
		w.wantLogged("warning about domain ended", 2)
		w.tickAfter(24 * time.Hour)
		w.wantWarnings("a day later", "")
		w.wantLogged("warning about domain ended", 4)
	})
}

func TestWarningsOfAResumedDomainConsiderLaterTraffic(t *testing.T) {
	each(t, func(w *fixture) {
		bad := traffic.ProviderCounts{Counts: traffic.Counts{Delivered: 700, Block: 300}, Spam: 300, Auth: 200}
		w.addProvider("gmail", bad)
		w.tickAfter(time.Minute)
		w.wantWarnings("before", "auth_failure_rate 200/1000 0.05 gmail; refusal_rate 300/1000 0.2 gmail")
		w.resumeDomain()
		w.wantWarnings("when the domain is resumed", "")
		w.tickAfter(5 * time.Minute)
		w.wantWarnings("then", "")
		w.wantLogged("warning about domain ended", 2)
		bad.Spam = 250
		w.addProvider("gmail", bad)
		w.tickAfter(time.Minute)
		w.wantWarnings("when it happens again", "auth_failure_rate 200/1000 0.05 gmail; refusal_rate 250/1000 0.2 gmail")
	})
}

func TestBounceWarningsRiseWithTheRate(t *testing.T) {
	each(t, func(w *fixture) {
		w.addTraffic(w.Lane.ID, traffic.Counts{Delivered: 2900, Hard: 100})
		w.tickAfter(time.Minute)
		w.wantWarnings("3.3 %", "hard_bounce_rate 100/3000 0.02")
		w.addTraffic(w.Lane.ID, traffic.Counts{Delivered: 2700, Hard: 300})
		for range 3 {
			w.tickAfter(time.Minute)
		}
		w.wantWarnings("6.7 %", "hard_bounce_rate 400/6000 0.05")
		w.wantLogged("hard bounce rate of domain is high", 2)
		w.wantLogged("warning about domain ended", 0)
		w.resumeDomain()
		w.tickAfter(time.Minute)
		w.wantWarnings("resumed", "")
	})
}

// send starts a broadcast to n new contacts and ends its mails: the first so many as unknown.
func (w *fixture) send(prefix string, n, unknown int, also ...contact.Contact) id.Broadcast {
	w.t.Helper()
	list := w.AddList(prefix)
	made := append(w.AddContacts(list.ID, prefix, n), also...)
	bad := map[id.Contact]bool{}
	for _, c := range made[:unknown] {
		bad[c.ID] = true
	}
	b := w.startBroadcast(func(ch *broadcast.Change) { ch.Include = &[]id.Segment{list.ID} })
	w.settle(w.SendOf(b), func(it outbox.Item) outbox.Result {
		r := outbox.Result{Item: it, State: outbox.Delivered, At: w.now}
		if bad[it.Contact] {
			r.State, r.BounceType, r.Category, r.Code = outbox.Bounced, "hard", "mailbox", 550
		}
		return r
	})
	return b
}

// settle claims the messages of a send and stores their results.
func (w *fixture) settle(s id.Send, result func(outbox.Item) outbox.Result) {
	w.t.Helper()
	ctx := w.t.Context()
	node := &outbox.Node{DB: w.DB, Owner: "node"}
	w.must(node.Renew(ctx, w.now.Add(time.Hour)))
	for {
		items, err := node.Claim(ctx, w.Tenant, s, 500, w.now)
		w.must(err)
		if len(items) == 0 {
			return
		}
		_, err = node.Commit(ctx, nil, items, w.now)
		w.must(err)
		results := make([]outbox.Result, len(items))
		for i, it := range items {
			results[i] = result(it)
		}
		_, err = node.Commit(ctx, results, nil, w.now)
		w.must(err)
	}
}

func TestAListThatIsNewIsJudgedByItsUnknownRecipients(t *testing.T) {
	for name, tt := range map[string]struct {
		recipients, unknown int
		want                string
	}{
		"many":              {200, 30, "unknown_user_rate 30/200 0.08 list"},
		"hardly more":       {200, 18, ""}, // the lower bound of 9 % is 5.8 %
		"of few recipients": {99, 40, ""},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *fixture) {
				w.send("new", tt.recipients, tt.unknown)
				w.tickAfter(time.Minute)
				w.tickAfter(time.Minute)
				w.wantWarnings("after the send", tt.want)
				if tt.want != "" {
					w.wantLogged("many recipients of a new list are unknown", 1)
				}
				w.tickAfter(24 * time.Hour)
				w.wantWarnings("a day later", "")
			})
		})
	}
}

func TestRecipientsWhoHadMailAreNoNewList(t *testing.T) {
	each(t, func(w *fixture) {
		list := w.AddList("known")
		people := w.AddContacts(list.ID, "known", 150)
		first := w.startBroadcast(func(ch *broadcast.Change) { ch.Include = &[]id.Segment{list.ID} })
		w.settle(w.SendOf(first), func(it outbox.Item) outbox.Result {
			return outbox.Result{Item: it, State: outbox.Delivered, At: w.now}
		})
		w.now = w.now.Add(time.Hour)
		second := w.startBroadcast(func(ch *broadcast.Change) { ch.Include = &[]id.Segment{list.ID} })
		w.settle(w.SendOf(second), func(it outbox.Item) outbox.Result {
			return outbox.Result{Item: it, State: outbox.Bounced, BounceType: "hard", Category: "mailbox", At: w.now}
		})
		w.tickAfter(time.Minute)
		w.wantWarnings(fmt.Sprintf("all of %d known recipients are unknown", len(people)), "")

		bad := w.send("new", 120, 40) // a list of its own beside the known one
		w.tickAfter(time.Minute)
		w.wantWarnings("a new list", "unknown_user_rate 40/120 0.08 list")
		all, err := sender.Warnings(w.t.Context(), w.DB, w.Tenant)
		w.must(err)
		if got := all[w.Domain.ID][0].Broadcast; got != bad {
			w.t.Errorf("the warning is about the broadcast %s, want %s", got, bad)
		}
		w.now = w.now.Add(time.Minute)
		w.resumeDomain()
		w.tickAfter(time.Minute)
		w.wantWarnings("the domain was resumed since", "")
	})
}

func TestACollapseOfThroughputIsWarnedOf(t *testing.T) {
	each(t, func(w *fixture) {
		w.AddContacts(w.List.ID, "c", 3)
		for range 14 { // 70 minutes
			w.addTraffic(w.Lane.ID, traffic.Counts{Delivered: 89, Hard: 1, Block: 10, Deferred: 5})
			w.tickAfter(5 * time.Minute)
		}
		w.tickAfter(6 * time.Minute)
		w.wantWarnings("without messages that are due", "")
		w.startBroadcast()
		w.tickAfter(time.Minute)
		w.wantWarnings("before they were due for five minutes", "")
		w.addTraffic(w.Lane.ID, traffic.Counts{Delivered: 4})
		w.tickAfter(5 * time.Minute)
		w.wantWarnings("hardly any leave", "throughput 4/100 0.05")
		w.tickAfter(2 * time.Hour)
		w.wantWarnings("two hours later, when the median is 0", "throughput 0/100 0.05")
		w.wantLogged("throughput of domain collapsed", 1)
		w.addTraffic(w.Lane.ID, traffic.Counts{Delivered: 5})
		w.tickAfter(time.Minute)
		w.wantWarnings("when messages leave again", "")
		w.wantLogged("warning about domain ended", 1)
	})
}

func TestALimitIsNoCollapseOfThroughput(t *testing.T) {
	for _, kind := range []outbox.WaitKind{outbox.WaitSendRate, outbox.WaitLaneDay, outbox.WaitLaneDown} {
		t.Run(string(kind), func(t *testing.T) {
			each(t, func(w *fixture) {
				w.AddContacts(w.List.ID, "c", 3)
				b := w.startBroadcast()
				for range 13 {
					w.addTraffic(w.Lane.ID, traffic.Counts{Delivered: 100})
					w.tickAfter(5 * time.Minute)
				}
				w.now = w.now.Add(6 * time.Minute)
				w.must(outbox.SaveWaits(w.t.Context(), w.DB, []outbox.Wait{{Tenant: w.Tenant, Send: w.SendOf(b), Kind: kind, Until: w.now.Add(time.Hour)}}, w.now))
				w.tickAfter(0)
				want := ""
				if kind == outbox.WaitLaneDown {
					want = "throughput 0/100 0.05"
				}
				w.wantWarnings("while messages wait", want)
			})
		})
	}
}
