// Package report computes the reports of sends from sums that are updated with each event.
//
// Package outbox counts the results of messages, track the engagement of recipients; a report reads
// both, by send, mix, time and attribute. LoadOverview and SendsByDay add up the sums by time of many
// sends with statements of their own.
package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Report is the headline metrics of one send.
type Report struct {
	Live     bool // not ended, even if paused: hits may be pending
	Messages outbox.Progress
	People   track.Sums // pending ones are zero unless Live
}

// Of returns the report of a send; all zero before it begins.
func Of(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) (Report, error) {
	var r Report
	var err error
	if r.Messages, err = outbox.Load(ctx, db, tenant, send); err != nil {
		return Report{}, err
	}
	if r.People, err = track.LoadSums(ctx, db, tenant, send); err != nil {
		return Report{}, fmt.Errorf("load the sums of a send: %w", err)
	}
	r.Live = r.Messages.Live()
	if !r.Live {
		r.People.PendingOpened, r.People.PendingClicked = 0, 0
	}
	return r, nil
}

// Rate returns n as a share of all recipients, rounded to four decimals; 0 if there are none.
func (r Report) Rate(n int) float64 { return rate(n, r.Messages.Total) }

func rate(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return rounded(float64(n) / float64(of))
}

func rounded(rate float64) float64 { return math.Round(rate*10000) / 10000 }

// Link is the result of one link of a send; only human clicks count.
type Link struct {
	Index        int
	URL          string // as written by the author
	Label        string
	UniqueClicks int
	TotalClicks  int
	ClickRate    float64 // unique clicks over all recipients
	FirstClickAt *time.Time
	LastClickAt  *time.Time
}

// Links returns every link of a send's mails, ordered by clicks, most first.
func Links(ctx context.Context, db *sqldb.DB, tenant id.Tenant, send id.Send) ([]Link, error) {
	progress, err := outbox.Load(ctx, db, tenant, send)
	if err != nil {
		return nil, err
	}
	all, err := content.LinksOf(ctx, db, tenant, send)
	if err != nil {
		return nil, err
	}
	clicked, err := track.LoadLinks(ctx, db, tenant, send)
	if err != nil {
		return nil, err
	}
	list := make([]Link, 0, len(all))
	for _, l := range all {
		c := clicked[l.URL]
		list = append(list, Link{
			Index: l.Index, URL: l.URL, Label: l.Label, UniqueClicks: c.Unique, TotalClicks: c.Total,
			ClickRate: rate(c.Unique, progress.Total), FirstClickAt: orNil(c.FirstAt), LastClickAt: orNil(c.LastAt),
		})
	}
	sortLinks(list)
	return list, nil
}

// sortLinks sorts by clicks, most first, then by the order in the mail.
func sortLinks(list []Link) {
	slices.SortStableFunc(list, func(a, b Link) int {
		return cmp.Or(cmp.Compare(b.UniqueClicks, a.UniqueClicks), cmp.Compare(b.TotalClicks, a.TotalClicks), cmp.Compare(a.Index, b.Index))
	})
}

// orNil returns nil for the zero time.
func orNil(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}
