package broadcast

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/senders/sender"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Guard names a precondition of scheduling.
type Guard string

// The guards, in the order in which they are checked.
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

// ScheduleWarning is a possible problem that does not prevent scheduling.
type ScheduleWarning struct {
	Code    string `json:"code"`
	Field   string `json:"field,omitempty"` // of a trouble of the content, and the missing one of EXPECTED_DATA_MISSING
	Line    int    `json:"line,omitempty"`  // of a trouble of the content, if known
	Message string `json:"message"`
}

// Readiness is the result of checking all guards.
type Readiness struct {
	Reasons  []Reason
	Warnings []ScheduleWarning
	Troubles []ScheduleWarning // those of Warnings that are of the content
}

// Reasons is the details of the fault returned by scheduling.
type Reasons struct {
	Reasons []Reason `json:"reasons"`
}

// Err returns nil if the broadcast is ready, else the fault of the first failed guard with all
// reasons as details.
func (r Readiness) Err() error {
	if len(r.Reasons) == 0 {
		return nil
	}
	return r.Reasons[0].fault.With(Reasons{r.Reasons})
}

// Preconditions are the data that the guards check in addition to the broadcast.
type Preconditions struct {
	EmailType *sender.EmailType // nil: not set, or deleted
	sender.Routing
	Content         error             // the error of content.Check
	HasAddress      bool              // the account has a postal address
	EmptyAudience   bool              // the segments exist and have no members
	UnknownAudience bool              // loading the audience took too long
	Template        string            // how the template differs from its snapshot; empty: it does not
	Lacking         []Lacking         // values the template expects and contacts lack
	Troubles        []ScheduleWarning // what the author should look at in the contents
	StaleSeedLists  []string          // names of chosen seed lists that get no copies
}

// Check checks every guard of b.
func Check(b Broadcast, f Preconditions) Readiness {
	r := Readiness{Reasons: []Reason{}, Warnings: []ScheduleWarning{}, Troubles: f.Troubles}
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
	} else if first, second, same := b.alike(); same {
		refuse(GuardContent, ErrVariants.Sayf("%s", b.alikeText(first, second)))
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
	all, some := b.lacksLink()
	warn(all, "NO_UNSUBSCRIBE_LINK", "the content has no unsubscribe link; a footer with one will be added")
	warn(some && !all, "NO_UNSUBSCRIBE_LINK", "some recipients get no unsubscribe link with the content; a footer with one will be added for them")
	warn(f.anyExternalRoute(b, unverified), "LANE_UNVERIFIED", "an MTA config has not been tried with one of the sending identities")
	warn(f.Template != "", "TEMPLATE_CHANGED", "the template "+f.Template)
	for _, l := range f.Lacking {
		r.Warnings = append(r.Warnings, ScheduleWarning{Code: "EXPECTED_DATA_MISSING", Field: l.Path, Message: l.String()})
	}
	warn(f.UnknownAudience, "AUDIENCE_UNKNOWN", "loading the audience took too long: it may be empty, or lack data that the template expects")
	for _, t := range f.Troubles {
		if t.Code != variantsAlike { // it is a reason
			r.Warnings = append(r.Warnings, t)
		}
	}
	warn(f.EmptyAudience, "EMPTY_AUDIENCE", "the audience is currently empty")
	for _, name := range f.StaleSeedLists {
		warn(true, "SEED_LIST_STALE", fmt.Sprintf("the seed list %q was not updated in time: it gets no copies until its next update", name))
	}
	warn(f.anyExternalRoute(b, withoutDMARC), "NO_DMARC", "no DMARC record is known for the domain of a sending identity")
	return r
}

// lacksLink reports whether all recipients of a variant get no link to unsubscribe with the content, or
// some do.
func (b Broadcast) lacksLink() (all, some bool) {
	for _, c := range b.VariantContents() {
		if c.Content.HTML != nil {
			ofAll, ofSome := content.LacksLink(*c.Content.HTML)
			all, some = all || ofAll, some || ofSome
		}
	}
	return all, some
}

// Ready loads the preconditions of b and checks every guard.
func Ready(ctx context.Context, db *sqldb.DB, b Broadcast, now time.Time) (Readiness, error) {
	f, err := LoadPreconditions(ctx, db, b)
	if err != nil {
		return Readiness{}, err
	}
	if err := f.checkContent(b, b.VariantContents()); err != nil {
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
	if f.StaleSeedLists, err = f.staleSeedLists(ctx, db, b, now); err != nil {
		return Readiness{}, err
	}
	if f.Troubles, err = Troubles(ctx, db, b, now); err != nil {
		return Readiness{}, err
	}
	return Check(b, f), nil
}

// variantsAlike is the code of the warning about variants that do not differ.
const variantsAlike = "VARIANTS_ALIKE"

// Troubles returns what the author of b should look at in its contents. The field of a variant's
// content is prefixed by its index among the variants.
func Troubles(ctx context.Context, db *sqldb.DB, b Broadcast, now time.Time) ([]ScheduleWarning, error) {
	fields, err := field.Load(ctx, db, b.Tenant)
	if err != nil {
		return nil, err
	}
	list := []ScheduleWarning{}
	seen := map[content.Trouble]bool{} // report what variants share once
	for i, c := range b.VariantContents() {
		found, err := c.Content.Review(ctx, fields, now)
		if err != nil {
			return nil, fmt.Errorf("review the content of broadcast %s: %w", b.ID, err)
		}
		for _, t := range found {
			t.At = 0 // readiness has no places
			if seen[t] {
				continue
			}
			seen[t] = true
			list = append(list, ScheduleWarning{Code: t.Code, Field: b.fieldOf(i, t.Field), Line: t.Line, Message: t.Message})
		}
	}
	if first, second, same := b.alike(); same {
		list = append(list, ScheduleWarning{Code: variantsAlike, Field: fmt.Sprintf("variants[%d]", second), Message: b.alikeText(first, second)})
	}
	return list, nil
}

// FieldOf returns the name of a field of a variant's content, such as content.subject, in the broadcast: that
// of the variant's override, if there is one.
func (b Broadcast) FieldOf(c VariantContent, field string) string {
	return b.fieldOf(slices.IndexFunc(b.Variants, func(v Variant) bool { return v.ID == c.Variant }), field)
}

func (b Broadcast) fieldOf(variant int, field string) string {
	if variant < 0 || variant >= len(b.Variants) {
		return field
	}
	return b.Variants[variant].fieldOf(variant, field)
}

// fieldOf returns the name of a field of the content of the variant with an index: that of its override, if
// there is one.
func (v Variant) fieldOf(index int, field string) string {
	if name := strings.TrimPrefix(field, "content."); v.overrides(name) {
		return fmt.Sprintf("variants[%d].content_overrides.%s", index, name)
	}
	return field
}

// overrides reports whether a variant has a value of its own for a field.
func (v Variant) overrides(name string) bool {
	_, own := v.Overrides[draft.Field(name)]
	return own
}

// checkContent calls content.Check for each content and stores the first fault.
func (f *Preconditions) checkContent(b Broadcast, contents []VariantContent) error {
	for _, c := range contents {
		if f.Content = content.Check(b.Source(c)); f.Content == nil {
			continue
		}
		if _, ok := fault.As(f.Content); !ok {
			return fmt.Errorf("check the content: %w", f.Content)
		}
		break
	}
	return nil
}

// LoadPreconditions loads the preconditions of b, except for its content and audience.
func LoadPreconditions(ctx context.Context, db *sqldb.DB, b Broadcast) (Preconditions, error) {
	t, err := tenant.ByID(ctx, db, b.Tenant)
	if err != nil {
		return Preconditions{}, err
	}
	f := Preconditions{HasAddress: !t.Settings.PostalAddress.Empty()}
	if !b.EmailType.IsZero() {
		typ, err := sender.EmailTypeByID(ctx, db, b.Tenant, b.EmailType)
		if err == nil {
			f.EmailType = &typ
		} else if !errors.Is(err, sender.ErrEmailTypeNotFound) {
			return Preconditions{}, err
		}
	}
	f.Routing, err = sender.LoadRouting(ctx, db, b.Tenant, t.Settings, b.selection())
	return f, err
}

// templateNow describes how the template of b differs from the snapshot the content was made from.
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

// Source returns the content of a variant for checking and freezing, without the names that SourceFor
// adds.
func (b Broadcast) Source(c VariantContent) content.Source {
	s := c.Content.Source()
	s.Context.UTMContent = c.Variant
	s.Tracking, s.Send = b.Tracking, b.Send
	s.Context.Broadcast, s.Context.BroadcastName, s.Context.EmailType = b.ID, b.Name, b.EmailType
	return s
}

// SourceFor returns Source with the UTM parameters from the account and the email type.
func (b Broadcast) SourceFor(t tenant.Tenant, c VariantContent, f Preconditions) content.Source {
	s := b.Source(c)
	s.Honeypot = t.Settings.Tracking.Honeypot
	s.Context.UTM = t.Settings.Tracking.UTM
	s.Context.UTMCampaign = slug.Derive(b.Name, '-')
	if f.EmailType != nil {
		s.Context.UTMCampaign = f.EmailType.UTMCampaignPrefix + s.Context.UTMCampaign
	}
	return s
}
