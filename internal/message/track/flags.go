package track

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Flags summarize one recipient's engagement with one message. They are derived from hits
// alone, except Unsubscribed, Complained and Proven.
type Flags int64

// The flags.
const (
	ApparentOpened Flags = 1 << iota // an open of any class
	VerifiedOpened                   // a human or privacy open, or a human click
	HumanOpened                      // a human open
	Confirmed                        // a human open with further evidence; see Derive
	BotOpened                        // every classified open is a bot's
	PendingOpened                    // every open is pending
	HumanClicked                     // a human click
	BotClicked                       // every classified click is a bot's
	PendingClicked                   // every click is pending
	Unsubscribed                     // by a link of this message
	Complained                       // about this message
	Proven                           // there is evidence of a person in hit_proof; it is in no sum
)

// sumColumns are the columns of engagement_sum in the order of the flags' bits.
var sumColumns = []string{
	"apparent_opened", "verified_opened", "human_opened", "confirmed", "bot_opened", "pending_opened",
	"human_clicked", "bot_clicked", "pending_clicked", "unsubscribed", "complained",
}

// notFromHits are the flags that are not derived from hits.
const notFromHits = Unsubscribed | Complained | Proven

// Evidence that confirms a human open: the time between two of them, and the time since
// delivery.
const (
	confirmApart = 10 * time.Minute
	confirmDelay = 30 * time.Second
)

// Derive returns the flags of a message with these hits, in any order.
func Derive(hits []Hit) Flags {
	var f Flags
	var opens, clicks struct{ any, pending, bot, human, privacy int }
	var firstHuman, lastHuman time.Time
	direct := false
	for _, h := range hits {
		if h.Late || h.Honeypot { // a honeypot is not a link of the mail
			continue
		}
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
			if h.SinceSent != nil && *h.SinceSent > confirmDelay && !ImageProxy(h.Agent) {
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
	set(Confirmed, opens.human > 0 && (clicks.human > 0 || lastHuman.Sub(firstHuman) >= confirmApart || direct))
	set(BotOpened, opens.bot > 0 && opens.human+opens.privacy == 0)
	set(PendingOpened, opens.any > 0 && opens.pending == opens.any)
	set(HumanClicked, clicks.human > 0)
	set(BotClicked, clicks.bot > 0 && clicks.human+clicks.privacy == 0)
	set(PendingClicked, clicks.any > 0 && clicks.pending == clicks.any)
	return f
}

// SetFlag sets a flag that is not derived from hits: Unsubscribed or Complained. It reports false
// if the message had it already. If the report of the send is closed, only the time is stored.
func SetFlag(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, send id.Send, message id.Message, flag Flags, at time.Time) (bool, error) {
	column := "unsubscribed_at"
	if flag == Complained {
		column = "complained_at"
	}
	messages, err := lockOrCreate(ctx, tx, tenant, map[id.Message]id.Send{message: send})
	if err != nil || messages[message].flags&flag != 0 {
		return false, err
	}
	n, err := tx.Exec(ctx, `UPDATE engagement SET `+column+` = $3 WHERE tenant_id = $1 AND message_id = $2 AND `+column+` IS NULL`,
		tenant, message, sqldb.Micros(at))
	if err != nil || n == 0 {
		return false, err
	}
	closed, err := outbox.Closed(ctx, tx, tenant, send, at)
	if err != nil || closed {
		return err == nil, err
	}
	var c changes
	messages[message].flags |= flag & notFromHits
	c.addTime(send, at, timeOf(flag, 1))
	return true, c.saveEngagements(ctx, tx, tenant, messages)
}

// WithFlag returns those of some messages that have a flag.
func WithFlag(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message, flag Flags) (map[id.Message]bool, error) {
	found := map[id.Message]bool{}
	if len(messages) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `SELECT message_id, flags FROM engagement WHERE tenant_id = $1 AND message_id`+db.In(2), tenant, sqldb.List(db, messages))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var m id.Message
		var has Flags
		err := scan(&m, &has)
		if has&flag != 0 {
			found[m] = true
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the engagement of messages: %w", err)
	}
	return found, nil
}
