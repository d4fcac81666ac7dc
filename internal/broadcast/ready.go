package broadcast

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/content"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/field"
	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/mail/links"
	"github.com/packetboat/packetboat/internal/manuscript"
	"github.com/packetboat/packetboat/internal/sender"
	"github.com/packetboat/packetboat/internal/slug"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/template"
	"github.com/packetboat/packetboat/internal/tenant"
)

// Guard names one of the things that scheduling asks for.
type Guard string

// The guards, in the order in which they are asked.
const (
	GuardSegment   Guard = "segment"
	GuardEmailType Guard = "email_type"
	GuardMTA       Guard = "mta"
	GuardContent   Guard = "content"
	GuardIdentity  Guard = "identity"
)

// Reason is why a draft cannot be scheduled.
type Reason struct {
	Guard   Guard  `json:"guard" enum:"segment,email_type,mta,content,identity"`
	Code    string `json:"code"`
	Message string `json:"message"`

	fault *fault.Error
}

// ScheduleWarning is what an author may want to know before scheduling; it stops nothing.
type ScheduleWarning struct {
	Code    string `json:"code"`
	Field   string `json:"field,omitempty"` // of LIQUID_MAY_FAIL
	Line    int    `json:"line,omitempty"`  // of LIQUID_MAY_FAIL, where it is known
	Message string `json:"message"`
}

// Readiness says whether a broadcast can be scheduled.
type Readiness struct {
	Reasons  []Reason
	Warnings []ScheduleWarning
}

// Reasons are the details of the fault that scheduling answers.
type Reasons struct {
	Reasons []Reason `json:"reasons"`
}

// Err returns nil when the broadcast is ready, else the fault of the first
// guard that failed, with all reasons as details.
func (r Readiness) Err() error {
	if len(r.Reasons) == 0 {
		return nil
	}
	return r.Reasons[0].fault.With(Reasons{r.Reasons})
}

// Preconditions are what the guards look at besides the broadcast itself.
type Preconditions struct {
	EmailType       *sender.EmailType // nil: not set, or deleted
	Lanes           map[id.MTAConfig]lane.Config
	DefaultLane     id.MTAConfig       // the account's; empty: none
	Candidates      []sender.Candidate // identities that are able to send
	Paused          []sender.Candidate // those that are not, only because their domain is paused
	Content         error              // what content.Check says
	HasAddress      bool               // the account has a postal address
	EmptyAudience   bool               // the segments exist and hold nobody
	UnknownAudience bool               // it took too long to look
	Template        string             // how the template differs from what the content was made of; empty: it does not
	Lacking         []Lacking          // data that the template expects of everybody
	Troubles        []ScheduleWarning  // Liquid that fails for some recipient
}

// Check asks every guard of b.
func Check(b Broadcast, f Preconditions) Readiness {
	r := Readiness{Reasons: []Reason{}, Warnings: []ScheduleWarning{}}
	refuse := func(g Guard, err *fault.Error) {
		r.Reasons = append(r.Reasons, Reason{g, err.Code, err.Message, err})
	}
	if len(b.Include) == 0 {
		refuse(GuardSegment, ErrNoSegment)
	}
	if f.EmailType == nil || !f.EmailType.Active {
		refuse(GuardEmailType, ErrEmailType)
	}
	if !f.hasLane(b) {
		refuse(GuardMTA, ErrNoMTA)
	}
	if err, ok := fault.As(f.Content); ok {
		refuse(GuardContent, err)
	}
	if len(f.Candidates) == 0 {
		refuse(GuardIdentity, ErrNoIdentity)
	}
	warn := func(when bool, code, message string) {
		if when {
			r.Warnings = append(r.Warnings, ScheduleWarning{Code: code, Message: message})
		}
	}
	warn(b.ScheduledAt == nil, "NO_SCHEDULED_AT", "scheduled_at is not set: the broadcast will wait and never start")
	warn(!f.HasAddress, "NO_POSTAL_ADDRESS", "the account has no postal address, which many laws ask for")
	warn(slices.ContainsFunc(b.Arms(), func(a Arm) bool { return a.Content.HTML != nil && !links.HasUnsubscribe(*a.Content.HTML) }),
		"NO_UNSUBSCRIBE_LINK", "the content has no unsubscribe link; a footer with one will be added")
	warn(f.anyLeavingRoute(b, unverified), "LANE_UNVERIFIED", "an MTA config has not been tried with one of the sending identities")
	warn(f.Template != "", "TEMPLATE_CHANGED", "the template "+f.Template)
	for _, l := range f.Lacking {
		warn(true, "EXPECTED_DATA_MISSING", l.String())
	}
	warn(f.UnknownAudience, "AUDIENCE_UNKNOWN", "it took too long to look at the audience: it may hold nobody, or lack data that the template expects")
	r.Warnings = append(r.Warnings, f.Troubles...)
	warn(f.EmptyAudience, "EMPTY_AUDIENCE", "the audience holds nobody at present")
	warn(f.anyLeavingRoute(b, withoutDMARC), "NO_DMARC", "no DMARC record is known for the domain of a sending identity")
	return r
}

// Ready asks every guard of b, as things stand.
func Ready(ctx context.Context, db *sqldb.DB, b Broadcast, now time.Time) (Readiness, error) {
	f, err := LoadPreconditions(ctx, db, b)
	if err != nil {
		return Readiness{}, err
	}
	if err := f.checkContent(b, b.Arms()); err != nil {
		return Readiness{}, err
	}
	if len(b.Include) > 0 {
		err := f.loadAudienceBriefly(ctx, db, b, now)
		if f.UnknownAudience = errors.Is(err, fault.ErrDeadline); err != nil && !f.UnknownAudience {
			return Readiness{}, err
		}
	}
	if f.Template, err = templateNow(ctx, db, b); err != nil {
		return Readiness{}, err
	}
	if f.Troubles, err = Warnings(ctx, db, b, now); err != nil {
		return Readiness{}, err
	}
	return Check(b, f), nil
}

// Warnings are those about Liquid of b that can be read, and fails for a
// recipient who has every field or for one who has none. The field of a variant's
// content begins with its place among the variants.
func Warnings(ctx context.Context, db *sqldb.DB, b Broadcast, now time.Time) ([]ScheduleWarning, error) {
	fields, err := field.Load(ctx, db, b.Tenant)
	if err != nil {
		return nil, err
	}
	list := []ScheduleWarning{}
	seen := map[content.Trouble]bool{} // what variants share is reported once
	for i, arm := range b.Arms() {
		found, err := arm.Content.Try(ctx, fields, now)
		if err != nil {
			return nil, fmt.Errorf("try the content of broadcast %s: %w", b.ID, err)
		}
		for _, t := range found {
			if seen[t] {
				continue
			}
			seen[t] = true
			w := ScheduleWarning{Code: t.Code, Field: t.Field, Line: t.Line, Message: t.Message}
			if name := strings.TrimPrefix(t.Field, "content."); arm.ID != "" && b.Variants[i].overrides(name) {
				w.Field = fmt.Sprintf("variants[%d].content_overrides.%s", i, name)
			}
			list = append(list, w)
		}
	}
	return list, nil
}

// overrides reports whether a variant says something of its own in a field.
func (v Variant) overrides(name string) bool {
	_, own := v.Overrides[manuscript.Field(name)]
	return own
}

// checkContent asks content.Check about arms, and keeps the first fault.
func (f *Preconditions) checkContent(b Broadcast, arms []Arm) error {
	for _, arm := range arms {
		if f.Content = content.Check(b.Source(arm)); f.Content == nil {
			continue
		}
		if _, ok := fault.As(f.Content); !ok {
			return fmt.Errorf("check the content: %w", f.Content)
		}
		break
	}
	return nil
}

// LoadPreconditions reads what sending b depends on, but for its content and audience.
func LoadPreconditions(ctx context.Context, db *sqldb.DB, b Broadcast) (Preconditions, error) {
	f := Preconditions{Lanes: map[id.MTAConfig]lane.Config{}}
	t, err := tenant.ByID(ctx, db, b.Tenant)
	if err != nil {
		return Preconditions{}, err
	}
	f.DefaultLane, f.HasAddress = t.Settings.DefaultMTAConfig, !t.Settings.PostalAddress.Empty()
	if !b.EmailType.IsZero() {
		typ, err := sender.EmailTypeByID(ctx, db, b.Tenant, b.EmailType)
		if err == nil {
			f.EmailType = &typ
		} else if !errors.Is(err, sender.ErrEmailTypeNotFound) {
			return Preconditions{}, err
		}
	}
	lanes, err := lane.List(ctx, db, b.Tenant)
	if err != nil {
		return Preconditions{}, err
	}
	for _, l := range lanes {
		f.Lanes[l.ID] = l
	}
	pool, err := sender.Candidates(ctx, db, b.Tenant, b.Identities, b.EmailType)
	f.Candidates, f.Paused = pool.Able, pool.Paused
	return f, err
}

// templateNow says how the template of b differs by now from what the content
// was made of.
func templateNow(ctx context.Context, db *sqldb.DB, b Broadcast) (string, error) {
	if b.Content.Origin == nil {
		return "", nil
	}
	var then template.Snapshot
	if err := json.Unmarshal(b.Content.Origin.Snapshot, &then); err != nil {
		return "", fmt.Errorf("broadcast %s: its template: %w", b.ID, err)
	}
	t, err := template.ByRef(ctx, db, b.Tenant, b.Content.Origin.Template.String())
	switch {
	case errors.Is(err, template.ErrNotFound):
		return "was deleted after the content was made of it; this can be sent, and saved again only with another template or bodies of its own", nil
	case err != nil:
		return "", err
	case t.ContentHash() != then.ContentHash:
		return "was edited after the content was made of it; save the broadcast again to take that over", nil
	}
	return "", nil
}

// Source returns the content of an arm as it is checked and frozen, but for the
// names that only the moment of sending knows.
func (b Broadcast) Source(arm Arm) content.Source {
	s := arm.Content.Source()
	s.Context.UTMContent = arm.ID
	s.Tracking, s.Send = b.Tracking, b.Send
	s.Context.Broadcast, s.Context.BroadcastName, s.Context.EmailType = b.ID, b.Name, b.EmailType
	return s
}

// SourceFor returns Source with the names that the account and the email type give it.
func (b Broadcast) SourceFor(t tenant.Tenant, arm Arm, f Preconditions) content.Source {
	s := b.Source(arm)
	s.Context.UTM = t.Settings.Tracking.UTM
	s.Context.UTMCampaign = slug.Derive(b.Name, '-')
	if f.EmailType != nil {
		s.Context.UTMCampaign = f.EmailType.UTMCampaignPrefix + s.Context.UTMCampaign
	}
	return s
}
