// Package score changes the scores of contacts for what they do.
//
// A tenant's rules define the points of actions. The Follower of the journal adds points to
// one of a contact's two scores, depending on the category of its stage; a contact without
// a stage, or in a stage of another category, gets no points. Opens and clicks count when
// they are classified as human or privacy. Each entry counts once; its points stay when its
// verdict is withdrawn, and when rules change.
//
// Decay reduces scores after days without activity. The scores of pending, deleted and
// anonymised contacts do not change. When a contact moves to a stage of another category,
// package contact sets both scores to zero.
package score

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Settings are a tenant's rules for scores.
type Settings struct {
	Enabled bool          `json:"enabled"` // if false, scores do not change
	Rules   []Rule        `json:"rules"`
	Decay   DecaySettings `json:"decay"`
	Min     int           `json:"min"`
	Max     int           `json:"max"`

	Revision int64 `json:"-"`
}

// Revisions is the table of scoring settings, for conditions on their revisions.
var Revisions = revision.Table{Name: "score_settings", Key: "tenant_id"}

// Rule defines the points of a kind of action.
type Rule struct {
	ID       string       `json:"id"` // generated if empty
	Trigger  journal.Type `json:"trigger"`
	Match    Match        `json:"match"`
	Points   int          `json:"points"`
	DailyCap int          `json:"daily_cap,omitempty"` // how often it counts per contact and day; 0: without limit
}

// Match restricts a rule. Its zero value matches every entry.
type Match struct {
	EventName string          `json:"event_name,omitempty"` // custom events only; if Type
	Type      string          `json:"type,omitempty"`       // is given too, one of them must match
	Filters   json.RawMessage `json:"filters,omitempty"`    // a JSON array of {property, operator, value}; all must match
}

// Filters are conditions on the data of an entry, as parsed by a Parser. They encode to
// their canonical form.
type Filters interface {
	json.Marshaler
	// Match reports whether properties pass all conditions at now. Days are those of zone.
	Match(properties map[string]any, now time.Time, zone *time.Location) bool
}

// Parser parses Match.Filters and returns problems with paths below path. It is that of
// package rule, which is above this package.
type Parser func(raw []byte, path string) (Filters, []fault.Field)

// DecaySettings reduces scores by Percent for every AfterDays without activity.
type DecaySettings struct {
	AfterDays int `json:"after_days"`
	Percent   int `json:"percent"`
}

// The limits of settings. Zero, the first value of every score, is within Min and Max.
const (
	maxRules  = 100
	maxPoints = 1000
	maxCap    = 1000
	maxDays   = 3650
	maxScore  = 1_000_000
	maxName   = 128
)

// ErrLimit reports too many rules.
var ErrLimit = fault.New(fault.Invalid, "LIMIT_EXCEEDED", fmt.Sprintf("at most %d scoring rules", maxRules))

// Triggers returns the types of journal entries that rules can be about.
func Triggers() []journal.Type {
	return []journal.Type{
		journal.EmailDelivered, journal.EmailOpened, journal.EmailClicked, journal.EmailBounced, journal.EmailComplained, journal.EmailUnsubscribed,
		journal.PageViewed, journal.FormSubmitted, journal.CustomEvent,
		journal.ContactCreated, journal.TagAdded, journal.TagRemoved, journal.ListAdded, journal.ListRemoved, journal.SubscriptionChanged, journal.StageChanged,
		journal.SequenceEnrolled, journal.SequenceCompleted, journal.SequenceExited,
	}
}

// Defaults returns the settings of a tenant that never changed them.
func Defaults() Settings {
	event := func(name string, points int) Rule {
		return Rule{ID: name, Trigger: journal.CustomEvent, Match: Match{EventName: name, Type: name}, Points: points}
	}
	return Settings{
		Enabled: true,
		Rules: []Rule{
			{ID: "email_opened", Trigger: journal.EmailOpened, Points: 1, DailyCap: 3},
			{ID: "email_clicked", Trigger: journal.EmailClicked, Points: 5},
			{ID: "page_viewed", Trigger: journal.PageViewed, Points: 1, DailyCap: 10},
			{ID: "form_submitted", Trigger: journal.FormSubmitted, Points: 10},
			event("meeting_booked", 20),
			event("order_placed", 20),
			event("trial_started", 15),
			{ID: "email_unsubscribed", Trigger: journal.EmailUnsubscribed, Points: -20},
			{ID: "email_complained", Trigger: journal.EmailComplained, Points: -50},
		},
		Decay: DecaySettings{AfterDays: 30, Percent: 20},
		Min:   0, Max: 1000,
	}
}

var ruleIDs = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// validated returns the settings as they are stored, or all their problems.
func (s Settings) validated(parse Parser) (Settings, error) {
	if len(s.Rules) > maxRules {
		return Settings{}, ErrLimit
	}
	var p fault.Problems
	between := func(path string, v, low, high int) {
		if v < low || v > high {
			p.Add(path, fmt.Sprintf("must be between %d and %d", low, high))
		}
	}
	s.Rules = slices.Clone(s.Rules)
	seen := map[string]bool{}
	for i := range s.Rules {
		r, path := &s.Rules[i], fmt.Sprintf("rules[%d].", i)
		if r.ID == "" {
			r.ID = id.NewText()
		}
		switch {
		case !ruleIDs.MatchString(r.ID):
			p.Add(path+"id", "must be 1 to 64 letters, digits, hyphens or underscores")
		case seen[r.ID]:
			p.Add(path+"id", "another rule has this id")
		}
		seen[r.ID] = true
		if !slices.Contains(Triggers(), r.Trigger) {
			p.Add(path+"trigger", "must be one of "+triggerNames())
		}
		r.Match = r.Match.validated(&p, path+"match.", r.Trigger, parse)
		between(path+"points", r.Points, -maxPoints, maxPoints)
		if r.DailyCap < 0 || r.DailyCap > maxCap {
			p.Add(path+"daily_cap", fmt.Sprintf("must be between 1 and %d, or null for no limit", maxCap))
		}
	}
	between("decay.after_days", s.Decay.AfterDays, 1, maxDays)
	between("decay.percent", s.Decay.Percent, 0, 100)
	between("min", s.Min, -maxScore, 0)
	between("max", s.Max, 1, maxScore)
	return s, p.Err()
}

func triggerNames() string {
	names := make([]string, 0, len(Triggers()))
	for _, t := range Triggers() {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}

func (m Match) validated(p *fault.Problems, path string, trigger journal.Type, parse Parser) Match {
	name := func(at string, v *string) {
		*v = strings.TrimSpace(*v)
		switch {
		case *v == "":
		case trigger != journal.CustomEvent:
			p.Add(path+at, "is for rules on custom events (trigger event)")
		case utf8.RuneCountInString(*v) > maxName || strings.ContainsRune(*v, 0):
			p.Add(path+at, fmt.Sprintf("at most %d characters", maxName))
		}
	}
	name("event_name", &m.EventName)
	name("type", &m.Type)
	if len(m.Filters) == 0 {
		return m
	}
	filters, wrong := parse(m.Filters, path+"filters")
	for _, f := range wrong {
		p.Add(f.Path, f.Message)
	}
	if m.Filters = nil; len(wrong) == 0 {
		text, err := filters.MarshalJSON()
		if err != nil {
			p.Add(path+"filters", "cannot be stored")
		}
		if m.Filters = text; string(text) == "[]" {
			m.Filters = nil
		}
	}
	return m
}

// Load returns a tenant's settings.
func Load(ctx context.Context, db *sqldb.DB, tenant id.Tenant) (Settings, error) {
	var text string
	var number int64
	err := db.QueryRow(ctx, `SELECT settings, revision FROM score_settings WHERE tenant_id = $1`, tenant).Scan(&text, &number)
	if errors.Is(err, sqldb.ErrNoRows) {
		s := Defaults()
		s.Revision = 1
		return s, nil
	}
	var s Settings
	if err == nil {
		err = json.Unmarshal([]byte(text), &s)
		s.Revision = number
	}
	if err != nil {
		return Settings{}, fmt.Errorf("read scoring settings: %w", err)
	}
	return s, nil
}

// Check validates the default settings after change.
func Check(parse Parser, change func(*Settings)) error {
	s := Defaults()
	change(&s)
	_, err := s.validated(parse)
	return err
}

// Change applies change to a tenant's settings, validates and stores them. A score outside
// new bounds does not change until it next gets points.
func Change(ctx context.Context, db *sqldb.DB, tenant id.Tenant, parse Parser, change func(*Settings), now time.Time) (Settings, error) {
	var s Settings
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO score_settings (tenant_id, settings, updated_at) VALUES ($1, $2, $3)
			ON CONFLICT (tenant_id) DO UPDATE SET updated_at = score_settings.updated_at`, // locks the row
			tenant, Defaults().text(), sqldb.Micros(now))
		if err != nil {
			return fmt.Errorf("change scoring settings: %w", err)
		}
		if s, err = Load(ctx, tx, tenant); err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, tenant); err != nil {
			return err
		}
		number := s.Revision + 1
		change(&s)
		if s, err = s.validated(parse); err != nil {
			return err
		}
		s.Revision = number
		_, err = tx.Exec(ctx, `
			UPDATE score_settings SET settings = $2, updated_at = $3, revision = $4, revised_by = $5 WHERE tenant_id = $1`,
			tenant, s.text(), sqldb.Micros(now), number, revision.By(ctx))
		return err
	})
	return s, err
}

// text returns the stored form of the settings.
func (s Settings) text() string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("score: settings that JSON cannot hold: " + err.Error())
	}
	return string(b)
}
