// Package recount compares stored sums with what they count, and corrects them.
//
// Sums change in the transactions that change what they count, so they differ only after a mistake
// of the program, or after someone wrote to the database. The messages of a send are counted page by
// page, in one state of the database, while the program may go on. A correction adds the difference
// between the counted and the stored value of that state: changes that were committed since then
// are in the stored value and stay, so that corrections need no long transaction. One process
// corrects at a time, since two would add the same difference twice.
package recount

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/leader"
)

// Difference is a stored value that is not what was counted.
type Difference struct {
	Tenant          id.Tenant
	Kind            Kind
	ID              string // of the record
	Field           string
	Stored, Counted int64
}

// Kind is the kind of a record with sums.
type Kind string

// The kinds.
const (
	Send       Kind = "send"       // results of messages
	Engagement Kind = "engagement" // opens and clicks of a send
	Message    Kind = "message"    // the flags of one message
	Contact    Kind = "contact"    // totals of a contact
	Contacts   Kind = "contacts"   // contacts of a tenant, by status
	List       Kind = "list"       // members of a static list
	Form       Kind = "form"       // submissions of a form
	Sequence   Kind = "sequence"   // enrollments in a sequence
	Automation Kind = "automation" // runs of an automation
	Visitors   Kind = "visitors"   // visitors of a tenant's websites
	Assets     Kind = "assets"     // images of a tenant
	Quota      Kind = "quota"      // bytes of a tenant's files and working copies
)

// Result is what was compared.
type Result struct {
	Sends, Messages, Contacts int
	Differences               int
	// Pruned are sends whose hits were deleted by age: only some of their sums can be counted.
	Pruned int
	// Unchecked are tenants whose contacts were not compared, since the journal has entries that are
	// not processed yet.
	Unchecked []id.Tenant
}

// Recount compares the sums of tenants.
type Recount struct {
	DB     *sqldb.DB
	Repair bool             // correct what differs
	Now    func() time.Time // for sends that end because of a correction
	Found  func(Difference) // called for each difference
	Page   int              // rows read at a time; 0: pageSize
}

// pageSize is how many messages or contacts are read at a time.
const pageSize = 2000

// Run compares the sums of the tenants, one after the other.
func (r *Recount) Run(ctx context.Context, tenants []id.Tenant) (Result, error) {
	var total Result
	work := func(ctx context.Context) error {
		total = Result{}
		for _, tenant := range tenants {
			if err := r.tenant(ctx, tenant, &total); err != nil {
				return fmt.Errorf("recount tenant %d: %w", tenant, err)
			}
		}
		return nil
	}
	if !r.Repair {
		return total, work(ctx)
	}
	err := leader.Run(ctx, r.DB, "recount", id.NewText(), time.Now, slog.New(slog.DiscardHandler), work)
	return total, err
}

func (r *Recount) page() int {
	if r.Page > 0 {
		return r.Page
	}
	return pageSize
}

func (r *Recount) tenant(ctx context.Context, tenant id.Tenant, total *Result) error {
	var after id.Send
	for {
		sends, err := outbox.SendsAfter(ctx, r.DB, tenant, after, r.page())
		if err != nil {
			return err
		}
		for _, send := range sends {
			if err := r.send(ctx, tenant, send, total); err != nil {
				return fmt.Errorf("send %s: %w", send, err)
			}
		}
		if len(sends) < r.page() {
			break
		}
		after = sends[len(sends)-1]
	}
	for _, compare := range []func(context.Context, id.Tenant, *Result) error{r.contacts, r.statuses, r.lists, r.forms, r.sequences, r.automations, r.visitors, r.assets, r.quota} {
		if err := compare(ctx, tenant, total); err != nil {
			return err
		}
	}
	return nil
}

// counts are the sums of a send in one state of the database.
type counts struct {
	stored, counted                     outbox.Count
	storedEngagement, countedEngagement track.Count
	messages                            int
}

func (r *Recount) send(ctx context.Context, tenant id.Tenant, send id.Send, total *Result) error {
	c, err := r.count(ctx, tenant, send)
	if err != nil {
		return err
	}
	total.Sends++
	total.Messages += c.messages
	if c.countedEngagement.Pruned {
		total.Pruned++
	}
	rows := c.countedEngagement.Rows
	for _, d := range rows {
		r.found(total, Difference{tenant, Message, d.Message.ID.String(), "flags", int64(d.Stored), int64(d.Counted)})
	}
	differ := r.report(total, tenant, Send, send.String(), c.stored.Diff(c.counted))
	engaged := r.report(total, tenant, Engagement, send.String(), c.storedEngagement.Diff(c.countedEngagement))
	if !r.Repair || !differ && !engaged && len(rows) == 0 {
		return nil
	}
	if len(rows) > 0 {
		for _, d := range rows {
			if err := track.CorrectRow(ctx, r.DB, tenant, d.Message); err != nil {
				return err
			}
		}
		if c, err = r.count(ctx, tenant, send); err != nil { // the corrections changed the sums, too
			return err
		}
	}
	if len(c.stored.Diff(c.counted)) > 0 {
		if err := outbox.Correct(ctx, r.DB, tenant, send, c.stored, c.counted, r.Now()); err != nil {
			return err
		}
	}
	if len(c.storedEngagement.Diff(c.countedEngagement)) > 0 {
		return track.Correct(ctx, r.DB, tenant, send, c.storedEngagement, c.countedEngagement)
	}
	return nil
}

// count reads the stored sums of a send and counts its messages.
func (r *Recount) count(ctx context.Context, tenant id.Tenant, send id.Send) (c counts, err error) {
	err = r.DB.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		c = counts{}
		var err error
		if c.stored, err = outbox.StoredCount(ctx, db, tenant, send); err != nil {
			return err
		}
		if c.storedEngagement, err = track.StoredCount(ctx, db, tenant, send); err != nil {
			return err
		}
		var at outbox.CountPosition
		for {
			page, err := outbox.CountPage(ctx, db, tenant, send, &c.counted, &at, r.page())
			if err != nil {
				return err
			}
			c.messages += len(page)
			if err := track.CountMessages(ctx, db, tenant, &c.countedEngagement, page); err != nil {
				return err
			}
			if len(page) < r.page() {
				return nil
			}
		}
	})
	return c, err
}

// contacts compares the totals of a tenant's contacts.
func (r *Recount) contacts(ctx context.Context, tenant id.Tenant, total *Result) error {
	var after id.Contact
	for more := true; more; {
		var wrong []contact.Totals
		caughtUp := false
		err := r.DB.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) (err error) {
			wrong, more = nil, false
			if caughtUp, err = journal.CaughtUp(ctx, db, tenant, contact.FollowerName); err != nil || !caughtUp {
				return err
			}
			stored, err := contact.TotalsAfter(ctx, db, tenant, after, r.page())
			if err != nil || len(stored) == 0 {
				return err
			}
			more = len(stored) == r.page()
			after = stored[len(stored)-1].Contact
			total.Contacts += len(stored)
			wrong, err = r.compareContacts(ctx, db, tenant, stored, total)
			return err
		})
		if err != nil {
			return err
		}
		if !caughtUp {
			total.Unchecked = append(total.Unchecked, tenant)
			return nil
		}
		if r.Repair {
			if err := contact.CorrectTotals(ctx, r.DB, tenant, wrong); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareContacts returns what is to be added to the totals that differ.
func (r *Recount) compareContacts(ctx context.Context, db *sqldb.DB, tenant id.Tenant, stored []contact.Totals, total *Result) ([]contact.Totals, error) {
	ids := make([]id.Contact, len(stored))
	for i, t := range stored {
		ids[i] = t.Contact
	}
	sent, err := outbox.AcceptedFor(ctx, db, tenant, ids)
	if err != nil {
		return nil, err
	}
	engaged, err := track.EngagedFor(ctx, db, tenant, ids)
	if err != nil {
		return nil, err
	}
	var wrong []contact.Totals
	for _, t := range stored {
		e := engaged[t.Contact]
		d := contact.Totals{Contact: t.Contact, Sent: sent[t.Contact] - t.Sent, Opened: e.Opened - t.Opened, Clicked: e.Clicked - t.Clicked}
		if d == (contact.Totals{Contact: t.Contact}) {
			continue
		}
		wrong = append(wrong, d)
		for _, f := range []outbox.Difference{
			{Field: "total_emails_sent", Stored: int64(t.Sent), Counted: int64(sent[t.Contact])},
			{Field: "total_emails_opened", Stored: int64(t.Opened), Counted: int64(e.Opened)},
			{Field: "total_emails_clicked", Stored: int64(t.Clicked), Counted: int64(e.Clicked)},
		} {
			if f.Stored != f.Counted {
				r.found(total, Difference{tenant, Contact, t.Contact.String(), f.Field, f.Stored, f.Counted})
			}
		}
	}
	return wrong, nil
}

func (r *Recount) report(total *Result, tenant id.Tenant, kind Kind, of string, list []outbox.Difference) bool {
	for _, d := range list {
		r.found(total, Difference{tenant, kind, of, d.Field, d.Stored, d.Counted})
	}
	return len(list) > 0
}

func (r *Recount) found(total *Result, d Difference) {
	total.Differences++
	if r.Found != nil {
		r.Found(d)
	}
}
