package harness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Expected is what must be true of a broadcast that has ended, whatever happened to
// the processes that sent it.
type Expected struct {
	People    []string             // addresses with a row
	Refused   func(to string) bool // whether the server permanently refuses an address; nil: none
	Left      map[string]time.Time // addresses for which no attempt may begin after this time; they may be skipped
	Never     []string             // addresses without a row, which must get no mail
	MayRepeat int                  // mails whose final answer may have been pending when a process died
	Calm      bool                 // no server deferred a mail: every repeated attempt is due to an uncertain one
}

// Figures are the results of an account.
type Figures struct {
	Mails    int // accepted by the sink
	People   int // recipients with a mail
	Repeats  int // mails after the first to the same recipient
	Lost     int // mails whose answer the sink withheld; each allows for a repeat
	Attempts int // begun
	Most     int // maximum of one recipient
	Unknown  int // uncertain attempts
	States   map[string]int
}

// String returns the figures in a line.
func (f Figures) String() string {
	return fmt.Sprintf("%d mails to %d people, %d repeated (%d answers withheld), %d attempts, at most %d for one, %d of unknown end; rows %v",
		f.Mails, f.People, f.Repeats, f.Lost, f.Attempts, f.Most, f.Unknown, f.States)
}

// row is a message in the database.
type row struct {
	id, email, state    string
	attempts, uncertain int
}

// Account compares the rows of a broadcast, its sums, its report and its journal
// with each other and with the mails in the sink. The error lists all
// differences.
func Account(ctx context.Context, db *sqldb.DB, r *Ready, taken []sink.Message, name string, want Expected) (Figures, error) {
	broadcast, ok := id.Parse[id.Broadcast](name)
	if !ok {
		return Figures{}, fmt.Errorf("%q is not the id of a broadcast", name)
	}
	a := account{want: want, records: map[string][]sink.Message{}, f: Figures{States: map[string]int{}}}
	bid := broadcast
	if err := a.load(ctx, db, taken, bid); err != nil {
		return a.f, err
	}
	a.people()
	a.mails()
	if err := a.sums(ctx, db, r, bid); err != nil {
		return a.f, err
	}
	if err := a.rest(ctx, db); err != nil {
		return a.f, err
	}
	return a.f, a.objections()
}

type account struct {
	want    Expected
	rows    []row
	records map[string][]sink.Message // by the message's id
	f       Figures
	wrong   []string
}

func (a *account) object(format string, args ...any) {
	a.wrong = append(a.wrong, fmt.Sprintf(format, args...))
}

// objections returns all of them, up to a readable number.
func (a *account) objections() error {
	const most = 20
	if n := len(a.wrong); n > most {
		a.wrong = append(a.wrong[:most:most], fmt.Sprintf("and %d more", n-most))
	}
	if len(a.wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(a.wrong, "\n"))
}

func (a *account) load(ctx context.Context, db *sqldb.DB, taken []sink.Message, broadcast id.Broadcast) error {
	rows, err := db.Query(ctx, `SELECT id, email, state, attempts, uncertain FROM outbox WHERE send_id = (SELECT send_id FROM broadcast WHERE id = $1) ORDER BY id`, broadcast)
	a.rows, err = sqldb.Collect(rows, err, func(scan func(...any) error) (w row, err error) {
		var m id.Message
		err = scan(&m, &w.email, &w.state, &w.attempts, &w.uncertain)
		w.id = m.String()
		return w, err
	})
	if err != nil {
		return err
	}
	for _, m := range taken {
		a.records[m.Ref] = append(a.records[m.Ref], m)
		if slices.ContainsFunc(m.Rcpt, func(to string) bool { return slices.Contains(a.want.Never, to) }) {
			a.object("%v got mail, and must never", m.Rcpt)
		}
	}
	return nil
}

// people checks that each recipient has one row, which has ended.
func (a *account) people() {
	have := map[string]int{}
	for _, w := range a.rows {
		have[w.email]++
		a.f.States[w.state]++
		a.f.Attempts += w.attempts
		a.f.Most = max(a.f.Most, w.attempts)
		a.f.Unknown += w.uncertain
	}
	for _, p := range a.want.People {
		if have[p] != 1 {
			a.object("%s has %d rows", p, have[p])
		}
	}
	if len(a.rows) != len(a.want.People) {
		a.object("there are %d rows for %d people", len(a.rows), len(a.want.People))
	}
}

// mails checks each row against its mails in the sink.
func (a *account) mails() {
	for _, w := range a.rows {
		got := a.records[w.id]
		a.f.Mails += len(got)
		a.f.Repeats += max(len(got)-1, 0)
		if len(got) > 0 {
			a.f.People++
		}
		left, leaves := a.want.Left[w.email]
		refused := a.want.Refused != nil && a.want.Refused(w.email)
		switch {
		case w.state == "delivered" && len(got) == 0:
			a.object("%s is delivered, and the sink has nothing", w.email)
		case refused && w.state != "bounced":
			a.object("%s is %s, and the server refuses them", w.email, w.state)
		case !refused && w.state != "delivered" && !(leaves && w.state == "skipped"):
			a.object("%s is %s after %d attempts; the sink has %d mails", w.email, w.state, w.attempts, len(got))
		case len(got) > w.attempts:
			a.object("%s got %d mails in %d attempts", w.email, len(got), w.attempts)
		case a.want.Calm && w.attempts > 1+w.uncertain:
			a.object("%s was tried %d times, of which %d had an unknown end", w.email, w.attempts, w.uncertain)
		}
		for _, m := range got {
			if m.Lost {
				a.f.Lost++
			}
			if m.MessageID != got[0].MessageID {
				a.object("%s got mails with different Message-IDs: %s and %s", w.email, got[0].MessageID, m.MessageID)
			}
			if !slices.Equal(m.Rcpt, []string{w.email}) {
				a.object("the mail of %s went to %v", w.email, m.Rcpt)
			}
			if leaves && m.Time.After(left) {
				a.object("%s got mail at %s, having left at %s", w.email, m.Time.Format(time.StampMilli), left.Format(time.StampMilli))
			}
		}
	}
	if most := a.want.MayRepeat + a.f.Lost; a.f.Repeats > most {
		a.object("%d mails were repeated, at most %d may be", a.f.Repeats, most)
	}
}

// sums checks the sums, the report and the journal against the rows.
func (a *account) sums(ctx context.Context, db *sqldb.DB, r *Ready, broadcast id.Broadcast) error {
	var waiting, total, sent, delivered, bounced, failed, skipped int
	var phase string
	err := db.QueryRow(ctx, `
		SELECT phase, waiting, total, sent, delivered, bounced, failed, skipped FROM send WHERE source_id = $1`, broadcast).
		Scan(&phase, &waiting, &total, &sent, &delivered, &bounced, &failed, &skipped)
	if err != nil {
		return err
	}
	report, err := r.Key.Must(ctx, http.MethodGet, "/broadcasts/"+broadcast.String()+"/report", nil)
	if err != nil {
		return err
	}
	s := a.f.States
	for _, c := range []struct {
		name      string
		sum, rows int
		report    string
	}{
		{"total", total, len(a.rows), "total_recipients"},
		{"sent", sent, s["delivered"] + s["bounced"], "total_sent"},
		{"delivered", delivered, s["delivered"], "total_delivered"},
		{"bounced", bounced, s["bounced"], "total_bounced"},
		{"failed", failed, s["failed"], "total_failed"},
		{"skipped", skipped, s["skipped"], ""},
		{"waiting", waiting, 0, ""},
	} {
		if c.sum != c.rows {
			a.object("the sum %s is %d, the rows say %d", c.name, c.sum, c.rows)
		}
		if c.report != "" && report[c.report] != float64(c.rows) {
			a.object("the report says %s = %v, the rows say %d", c.report, report[c.report], c.rows)
		}
	}
	if phase != "done" {
		a.object("the send is %s", phase)
	}
	for typ, want := range map[journal.Type]int{
		journal.EmailDelivered: s["delivered"], journal.EmailBounced: s["bounced"], journal.BroadcastStarted: 1, journal.BroadcastCompleted: 1,
	} {
		var n int
		if err := db.QueryRow(ctx, `
			SELECT COALESCE(SUM(CASE WHEN packed IS NULL THEN 1 ELSE LENGTH(packed) / 40 END), 0)
			FROM journal WHERE (name = $1 OR send_id = (SELECT send_id FROM broadcast WHERE id = $2)) AND type = $3`,
			broadcast.String(), broadcast, typ).Scan(&n); err != nil {
			return err
		}
		if n != want {
			a.object("the journal has %d entries %s, want %d", n, typ, want)
		}
	}
	return nil
}

// settleWithin is how long a dead node's claims may outlast the broadcast: its
// lease, and the next look at it.
const settleWithin = 5 * time.Minute

// rest checks that no claims, attempts or leases remain.
func (a *account) rest(ctx context.Context, db *sqldb.DB) error {
	for what, text := range map[string]string{
		"claims are left":      `SELECT COUNT(*) FROM outbox_claim`,
		"attempts have no end": `SELECT COUNT(*) FROM outbox_attempt`,
	} {
		n := 0
		for end := time.Now().Add(settleWithin); ; {
			if err := db.QueryRow(ctx, text).Scan(&n); err != nil {
				return err
			}
			if n == 0 || time.Now().After(end) {
				break
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(100 * time.Millisecond):
			}
		}
		if n > 0 {
			a.object("%d %s", n, what)
		}
	}
	return nil
}

// Followed waits until the followers have read all of the journal, and checks
// that each of them saw everything once: the contacts' counts are those of the
// rows.
func Followed(ctx context.Context, db *sqldb.DB, name string) error {
	broadcast := id.Read[id.Broadcast](name)
	for {
		lag, err := journal.Lag(ctx, db)
		if err != nil {
			return err
		}
		if lag == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("followers lag by %d entries: %w", lag, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	var n int
	err := db.QueryRow(ctx, `
		SELECT COUNT(*) FROM outbox AS m JOIN contact_activity AS a ON a.tenant_id = m.tenant_id AND a.contact_id = m.contact_id
		WHERE m.send_id = (SELECT send_id FROM broadcast WHERE id = $1) AND a.total_emails_sent <> (SELECT COUNT(*) FROM outbox AS o
			WHERE o.tenant_id = m.tenant_id AND o.contact_id = m.contact_id AND o.state IN ('sent', 'delivered'))`, broadcast).Scan(&n)
	if err == nil && n > 0 {
		err = fmt.Errorf("the count of mails sent is wrong for %d contacts", n)
	}
	return err
}
