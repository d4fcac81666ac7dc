package track

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"packetboat/internal/id"
	"packetboat/internal/journal"
	"packetboat/internal/sqldb"
)

// Flags say what is known of one recipient's engagement with one message
// (contract 12.2). They are derived from the hits and from nothing else, but for
// Unsubscribed and Complained, which are never derived from hits.
type Flags int64

// The flags.
const (
	ApparentOpened Flags = 1 << iota // an open of any class
	VerifiedOpened                   // a human or privacy open, or a human click
	HumanOpened                      // a human open
	Confirmed                        // a human open that something else bears out
	BotOpened                        // every classified open is a bot's
	PendingOpened                    // every open is pending
	HumanClicked                     // a human click
	BotClicked                       // every classified click is a bot's
	PendingClicked                   // every click is pending
	Unsubscribed                     // by a link of this message
	Complained                       // about this message
)

// sumColumns are the columns of engagement_sum in the order of the flags' bits.
var sumColumns = []string{
	"apparent_opened", "verified_opened", "human_opened", "confirmed", "bot_opened", "pending_opened",
	"human_clicked", "bot_clicked", "pending_clicked", "unsubscribed", "complained",
}

// kept are the flags that hits do not decide.
const kept = Unsubscribed | Complained

// What bears out a human open.
const (
	apartForConfirmed = 10 * time.Minute
	lateForConfirmed  = 30 * time.Second
)

// Derive returns the flags of a message with these hits, in any order.
func Derive(hits []Hit) Flags {
	var f Flags
	var opens, clicks struct{ any, pending, bot, human, privacy int }
	var firstHuman, lastHuman time.Time
	direct := false
	for _, h := range hits {
		c := &opens
		if h.Click {
			c = &clicks
		}
		c.any++
		switch h.Class {
		case Pending:
			c.pending++
		case Bot:
			c.bot++
		case Privacy:
			c.privacy++
		case Human:
			c.human++
			if h.Click {
				break
			}
			if firstHuman.IsZero() || h.At.Before(firstHuman) {
				firstHuman = h.At
			}
			if h.At.After(lastHuman) {
				lastHuman = h.At
			}
			if h.SinceSent != nil && *h.SinceSent > lateForConfirmed && !ImageProxy(h.Agent) {
				direct = true
			}
		}
	}
	set := func(flag Flags, on bool) {
		if on {
			f |= flag
		}
	}
	set(ApparentOpened, opens.any > 0)
	set(VerifiedOpened, opens.human+opens.privacy+clicks.human > 0)
	set(HumanOpened, opens.human > 0)
	set(Confirmed, opens.human > 0 && (clicks.human > 0 || lastHuman.Sub(firstHuman) >= apartForConfirmed || direct))
	set(BotOpened, opens.bot > 0 && opens.human+opens.privacy == 0)
	set(PendingOpened, opens.any > 0 && opens.pending == opens.any)
	set(HumanClicked, clicks.human > 0)
	set(BotClicked, clicks.bot > 0 && clicks.human+clicks.privacy == 0)
	set(PendingClicked, clicks.any > 0 && clicks.pending == clicks.any)
	return f
}

// ImageProxy reports whether the agent fetches images on behalf of a person who
// is reading, at that moment (mail-notes 6.4).
func ImageProxy(agent string) bool {
	return strings.Contains(agent, "GoogleImageProxy") || strings.Contains(agent, "YahooMailProxy")
}

// recount derives the flags of messages from their hits and lets the sums of
// their streams follow. The rows are locked before the hits are read, so that of
// two transactions that add hits to one message the later sees both.
// News are the hits that have just begun to count.
func recount(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, messages []id.Message, news map[id.Hit]bool) error {
	hits, err := HitsOf(ctx, tx, tenant, messages)
	if err != nil {
		return err
	}
	streams := map[id.Message]string{}
	for _, h := range hits {
		streams[h.Message] = h.Stream
	}
	old, err := lock(ctx, tx, tenant, messages, streams)
	if err != nil {
		return err
	}
	if tx.Dialect() == sqldb.Postgres { // somebody may have committed while we waited
		if hits, err = HitsOf(ctx, tx, tenant, messages); err != nil {
			return err
		}
	}
	of := map[id.Message][]Hit{}
	for _, h := range hits {
		of[h.Message] = append(of[h.Message], h)
	}
	changed := map[id.Message]Flags{}
	var entries []journal.Entry
	for _, m := range messages {
		f := Derive(of[m]) | old[m]&kept
		if f != old[m] {
			changed[m] = f
		}
		entries = append(entries, noted(old[m], f, of[m], news)...)
	}
	if err := save(ctx, tx, tenant, streams, old, changed); err != nil {
		return err
	}
	return journal.Append(ctx, tx, entries...)
}

// Mark sets a flag that hits do not decide, once. It reports whether it was new.
func Mark(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, stream string, message id.Message, flag Flags) (bool, error) {
	streams := map[id.Message]string{message: stream}
	old, err := lock(ctx, tx, tenant, []id.Message{message}, streams)
	if err != nil || old[message]&flag != 0 {
		return false, err
	}
	return true, save(ctx, tx, tenant, streams, old, map[id.Message]Flags{message: old[message] | flag&kept})
}

func lock(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, messages []id.Message, streams map[id.Message]string) (map[id.Message]Flags, error) {
	t := tx.Table("message_id TEXT", "stream_id TEXT")
	for _, m := range messages {
		t.Add(m, streams[m])
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO engagement (tenant_id, message_id, stream_id, flags)
		SELECT $1, v.message_id, v.stream_id, 0 FROM `+t.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, message_id) DO NOTHING`, t.Args(tenant)...)
	if err != nil {
		return nil, err
	}
	return flagsOf(ctx, tx, tenant, messages)
}

// flagsOf returns the flags of messages, and keeps others from changing them.
func flagsOf(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, messages []id.Message) (map[id.Message]Flags, error) {
	rows, err := tx.Query(ctx, `
		SELECT message_id, flags FROM engagement WHERE tenant_id = $1 AND message_id`+tx.In(2)+`
		ORDER BY message_id`+tx.ForUpdate(), tenant, sqldb.List(tx, messages))
	old := map[id.Message]Flags{}
	_, err = sqldb.Collect(rows, err, func(scan func(...any) error) (m id.Message, err error) {
		var f Flags
		err = scan(&m, &f)
		old[m] = f
		return m, err
	})
	return old, err
}

// save writes flags and adds what they change to the sums of their streams.
func save(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, streams map[id.Message]string, old, changed map[id.Message]Flags) error {
	if len(changed) == 0 {
		return nil
	}
	t := tx.Table("message_id TEXT", "flags BIGINT")
	deltas := map[string][]int64{}
	for m, f := range changed {
		t.Add(m, int64(f))
		d := deltas[streams[m]]
		if d == nil {
			d = make([]int64, len(sumColumns))
			deltas[streams[m]] = d
		}
		for i := range sumColumns {
			d[i] += int64(f>>i&1) - int64(old[m]>>i&1)
		}
	}
	_, err := tx.Exec(ctx, `
		UPDATE engagement SET flags = v.flags FROM `+t.As("v", 2)+`
		WHERE engagement.tenant_id = $1 AND engagement.message_id = v.message_id`, t.Args(tenant)...)
	if err != nil {
		return err
	}
	for _, stream := range slices.Sorted(maps.Keys(deltas)) { // in one order, or two transactions wait for each other
		args := []any{tenant, stream}
		var values, sets []string
		for i, c := range sumColumns {
			args = append(args, deltas[stream][i])
			values = append(values, fmt.Sprintf("$%d", i+3))
			sets = append(sets, fmt.Sprintf("%s = engagement_sum.%s + excluded.%s", c, c, c))
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO engagement_sum (tenant_id, stream_id, `+strings.Join(sumColumns, ", ")+`)
			VALUES ($1, $2, `+strings.Join(values, ", ")+`)
			ON CONFLICT (tenant_id, stream_id) DO UPDATE SET `+strings.Join(sets, ", "), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Engaged is the data of a journal entry about an open or a click that is not a
// machine's. One is written for each such hit once it is known for that, and one
// that is withdrawn when a later verdict leaves the message without any.
type Engaged struct {
	Classification Class  `json:"classification"`
	First          bool   `json:"first,omitempty"`     // the message counts as opened or clicked from now on
	Withdrawn      bool   `json:"withdrawn,omitempty"` // it does not any more
	LinkURL        string `json:"link_url,omitempty"`  // of a click, as authored
}

// noted returns what the journal is told about a change of flags, and about the
// hits, by time, that are news.
func noted(old, now Flags, hits []Hit, news map[id.Hit]bool) []journal.Entry {
	var list []journal.Entry
	tell := func(t journal.Type, h Hit, said Engaged) {
		list = append(list, journal.Entry{
			Tenant: h.Tenant, Type: t, Contact: h.Contact, Broadcast: id.Broadcast(h.Stream), Message: h.Message, At: h.At, Data: said,
		})
	}
	for _, what := range []struct {
		typ   journal.Type
		flag  Flags
		shows func(Hit) bool // a person's click shows that he has seen the mail
	}{
		{journal.EmailOpened, VerifiedOpened, func(h Hit) bool { return h.Class.counts() }},
		{journal.EmailClicked, HumanClicked, func(h Hit) bool { return h.Click && h.Class == Human }},
	} {
		told := -1
		switch i := slices.IndexFunc(hits, what.shows); {
		case now&what.flag != 0 && old&what.flag == 0:
			tell(what.typ, hits[i], engaged(hits[i], what.typ, true))
			told = i
		case now&what.flag == 0 && old&what.flag != 0 && len(hits) > 0:
			tell(what.typ, hits[len(hits)-1], Engaged{Classification: Bot, Withdrawn: true})
		}
		for i, h := range hits {
			if i != told && news[h.ID] && what.shows(h) && h.Click == (what.flag == HumanClicked) {
				tell(what.typ, h, engaged(h, what.typ, false))
			}
		}
	}
	return list
}

func engaged(h Hit, t journal.Type, first bool) Engaged {
	e := Engaged{Classification: h.Class, First: first}
	if t == journal.EmailClicked {
		e.LinkURL = h.URL
	}
	return e
}

// Sums are the unique recipients of a stream by what they did.
type Sums struct {
	ApparentOpened, VerifiedOpened, HumanOpened, Confirmed, BotOpened, PendingOpened int
	HumanClicked, BotClicked, PendingClicked, Unsubscribed, Complained               int
}

// LoadSums returns the sums of a stream; zeros when nobody did anything.
func LoadSums(ctx context.Context, db *sqldb.DB, tenant id.Tenant, stream string) (Sums, error) {
	rows, err := db.Query(ctx, `
		SELECT `+strings.Join(sumColumns, ", ")+` FROM engagement_sum WHERE tenant_id = $1 AND stream_id = $2`, tenant, stream)
	list, err := sqldb.Collect(rows, err, func(scan func(...any) error) (s Sums, err error) {
		return s, scan(&s.ApparentOpened, &s.VerifiedOpened, &s.HumanOpened, &s.Confirmed, &s.BotOpened, &s.PendingOpened,
			&s.HumanClicked, &s.BotClicked, &s.PendingClicked, &s.Unsubscribed, &s.Complained)
	})
	if err != nil || len(list) == 0 {
		return Sums{}, err
	}
	return list[0], nil
}
