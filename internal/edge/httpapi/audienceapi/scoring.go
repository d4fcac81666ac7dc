package audienceapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/edge/httpapi/wire"
	"github.com/packetboat/packetboat/internal/people/score"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Scoring serves scoring settings.
type Scoring struct {
	db  *sqldb.DB
	now func() time.Time
}

// NewScoring returns the operations on scoring settings.
func NewScoring(e wire.Env) Scoring { return Scoring{db: e.DB, now: e.Now} }

// Register adds the operations on scoring settings.
func (api Scoring) Register(r *endpoint.Router) {
	endpoint.Handle(r, "GET /t/{tenant}/api/settings/scoring", endpoint.Op{
		Name: "getScoring", Summary: "Get the scoring settings.", Tag: "scoring", Session: true,
	}.Revised(score.Revisions), api.getScoring)
	endpoint.Handle(r, "PUT /t/{tenant}/api/settings/scoring", endpoint.Op{
		Name: "updateScoring", Summary: "Update the scoring settings; absent fields keep their values.",
		Description: "rules replace all stored rules. Points that were given stay, and a score outside new bounds stays until it next changes.",
		Tag:         "scoring", Session: true, Role: auth.Admin, Faults: []*fault.Error{score.ErrLimit},
	}.ExampleBody(`{"enabled": true, "rules": [{"id": "click", "trigger": "email_clicked", "points": 5, "daily_cap": 2}], "decay": {"after_days": 60, "percent": 10}, "min": 0, "max": 500}`).IfMatch(score.Revisions), api.updateScoring, checkScoring)
}

// scoringView are the settings in answers.
type scoringView struct {
	Enabled bool         `json:"enabled" doc:"Whether scores change at all."`
	Rules   []scoreRule  `json:"rules"`
	Decay   scoringDecay `json:"decay"`
	Min     int          `json:"min" doc:"At most 0."`
	Max     int          `json:"max" doc:"At least 1."`
}

type scoreRule struct {
	ID       string     `json:"id"`
	Trigger  string     `json:"trigger" doc:"What happened: email_opened, page_viewed, … or event for custom events."`
	Match    scoreMatch `json:"match"`
	Points   int        `json:"points" doc:"May be negative."`
	DailyCap *int       `json:"daily_cap,omitempty" doc:"How often a day, in the account's time zone, the rule counts for a contact."`
}

type scoreMatch struct {
	EventName string          `json:"event_name,omitempty" doc:"Of custom events. With type too, either of the two must match."`
	Type      string          `json:"type,omitempty"`
	Filters   []eventProperty `json:"filters,omitempty" doc:"All of them must match."`
}

// eventProperty is a test of one property of an event.
type eventProperty struct {
	Property string `json:"property" doc:"A path with dots for objects and [] for arrays: items[].sku."`
	Operator string `json:"operator"`
	Value    any    `json:"value,omitempty"`
}

type scoringDecay struct {
	AfterDays int `json:"after_days" doc:"Days without activity."`
	Percent   int `json:"percent" doc:"What a score loses each time after_days have passed without activity; the rest is rounded down. 0: nothing."`
}

func (api Scoring) getScoring(ctx context.Context, p auth.Principal, _ *struct{}) (scoringView, error) {
	s, err := score.Load(ctx, api.db, p.Tenant)
	endpoint.SetRevision(ctx, s.Revision)
	return viewOfScoring(s), err
}

func viewOfScoring(s score.Settings) scoringView {
	v := scoringView{
		Enabled: s.Enabled, Rules: make([]scoreRule, len(s.Rules)), Min: s.Min, Max: s.Max,
		Decay: scoringDecay{s.Decay.AfterDays, s.Decay.Percent},
	}
	for i, r := range s.Rules {
		v.Rules[i] = scoreRule{ID: r.ID, Trigger: string(r.Trigger), Points: r.Points}
		if r.DailyCap > 0 {
			v.Rules[i].DailyCap = &r.DailyCap
		}
		m := &v.Rules[i].Match
		m.EventName, m.Type = r.Match.EventName, r.Match.Type
		if len(r.Match.Filters) > 0 {
			_ = json.Unmarshal(r.Match.Filters, &m.Filters) // checked before they were stored
		}
	}
	return v
}

type updateScoringRequest struct {
	Body struct {
		Enabled endpoint.Opt[bool]               `json:"enabled" nullable:"false"`
		Rules   endpoint.Opt[[]scoreRuleBody]    `json:"rules" nullable:"false"`
		Decay   endpoint.Opt[scoringDecayChange] `json:"decay" nullable:"false"`
		Min     endpoint.Opt[int]                `json:"min" nullable:"false"`
		Max     endpoint.Opt[int]                `json:"max" nullable:"false"`
	}
}

type scoreRuleBody struct {
	ID       string                       `json:"id,omitempty" doc:"Generated when absent."`
	Trigger  string                       `json:"trigger"`
	Match    endpoint.Opt[scoreMatchBody] `json:"match"`
	Points   int                          `json:"points"`
	DailyCap endpoint.Opt[int]            `json:"daily_cap" doc:"At least 1; null: no limit."`
}

type scoreMatchBody struct {
	EventName endpoint.Opt[string]          `json:"event_name"`
	Type      endpoint.Opt[string]          `json:"type"`
	Filters   endpoint.Opt[[]eventProperty] `json:"filters"`
}

type scoringDecayChange struct {
	AfterDays endpoint.Opt[int] `json:"after_days" nullable:"false"`
	Percent   endpoint.Opt[int] `json:"percent" nullable:"false"`
}

func checkScoring(_ auth.Principal, in *updateScoringRequest) error {
	return score.Check(rule.ScoringFilters, in.apply)
}

func (api Scoring) updateScoring(ctx context.Context, p auth.Principal, in *updateScoringRequest) (scoringView, error) {
	var s score.Settings
	err := wire.AuditedUpdate(ctx, api.db, p, wire.Update{
		Action: "update", Target: "scoring", ID: p.Tenant.String(), Table: score.Revisions, Key: p.Tenant, HideAddresses: true,
		Show: func(tx *sqldb.DB) (any, error) {
			s, err := score.Load(ctx, tx, p.Tenant)
			return viewOfScoring(s), err
		},
		Do: func(tx *sqldb.DB) (err error) {
			s, err = score.Change(ctx, tx, p.Tenant, rule.ScoringFilters, in.apply, api.now())
			return err
		},
	}, api.now())
	endpoint.SetRevision(ctx, s.Revision)
	return viewOfScoring(s), err
}

func (b scoreRuleBody) rule() score.Rule {
	m := b.Match.Or(scoreMatchBody{})
	r := score.Rule{
		ID: b.ID, Trigger: journal.Type(b.Trigger), Points: b.Points, DailyCap: b.DailyCap.Or(0),
		Match: score.Match{EventName: m.EventName.Or(""), Type: m.Type.Or("")},
	}
	if b.DailyCap.Given() && b.DailyCap.Value == 0 {
		r.DailyCap = -1 // score.Check refuses it; no cap is null, not 0
	}
	if filters := m.Filters.Or(nil); len(filters) > 0 {
		r.Match.Filters, _ = json.Marshal(filters) // decoded from JSON, so it can be encoded
	}
	return r
}

func (in *updateScoringRequest) apply(s *score.Settings) {
	b := &in.Body
	wire.SetIfGiven(&s.Enabled, b.Enabled)
	wire.SetIfGiven(&s.Decay.AfterDays, b.Decay.Value.AfterDays)
	wire.SetIfGiven(&s.Decay.Percent, b.Decay.Value.Percent)
	wire.SetIfGiven(&s.Min, b.Min)
	wire.SetIfGiven(&s.Max, b.Max)
	if b.Rules.Given() {
		s.Rules = make([]score.Rule, len(b.Rules.Value))
		for i, r := range b.Rules.Value {
			s.Rules[i] = r.rule()
		}
	}
}
