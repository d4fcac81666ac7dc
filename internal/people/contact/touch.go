package contact

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Touches are the first and the last visit of a contact to the tenant's website, and where
// it came from. Nil means unknown.
type Touches struct {
	FirstAt                                 *time.Time
	FirstCampaign, FirstMedium, FirstSource *string
	FirstCountry, FirstTimezone             *string
	FirstLandingURL, FirstReferrer          *string
	LastAt                                  *time.Time
	LastCampaign, LastMedium, LastSource    *string
}

// storedTouches are the encoded form of Touches.
type storedTouches struct {
	FirstAt         *int64  `json:"first_touch_at,omitempty"`
	FirstCampaign   *string `json:"first_touch_campaign,omitempty"`
	FirstMedium     *string `json:"first_touch_medium,omitempty"`
	FirstSource     *string `json:"first_touch_source,omitempty"`
	FirstCountry    *string `json:"first_touch_country,omitempty"`
	FirstTimezone   *string `json:"first_touch_timezone,omitempty"`
	FirstLandingURL *string `json:"first_touch_landing_url,omitempty"`
	FirstReferrer   *string `json:"first_touch_referrer,omitempty"`
	LastAt          *int64  `json:"last_touch_at,omitempty"`
	LastCampaign    *string `json:"last_touch_campaign,omitempty"`
	LastMedium      *string `json:"last_touch_medium,omitempty"`
	LastSource      *string `json:"last_touch_source,omitempty"`
}

// Touches decodes the contact's touches.
func (c *Contact) Touches() (Touches, error) {
	if c.touch == "" {
		return Touches{}, nil
	}
	var s storedTouches
	if err := json.Unmarshal([]byte(c.touch), &s); err != nil {
		return Touches{}, fmt.Errorf("touches of contact %s: %w", c.ID, err)
	}
	at := func(micros *int64) *time.Time {
		if micros == nil {
			return nil
		}
		return new(sqldb.Time(*micros))
	}
	return Touches{
		FirstAt: at(s.FirstAt), FirstCampaign: s.FirstCampaign, FirstMedium: s.FirstMedium, FirstSource: s.FirstSource,
		FirstCountry: s.FirstCountry, FirstTimezone: s.FirstTimezone, FirstLandingURL: s.FirstLandingURL, FirstReferrer: s.FirstReferrer,
		LastAt: at(s.LastAt), LastCampaign: s.LastCampaign, LastMedium: s.LastMedium, LastSource: s.LastSource,
	}, nil
}

// Visit is one visit of a contact to the tenant's website. Empty means unknown.
type Visit struct {
	At                       time.Time
	Source, Medium, Campaign string
	Country, Timezone        string
	LandingURL, Referrer     string
}

// Visits are visits that may change a contact's touches.
type Visits struct {
	First *Visit // sets the first touch of a contact that has none
	Last  *Visit // replaces the last touch unless that is later
}

// SaveVisits changes the touches of contacts, as part of the transaction tx.
func SaveVisits(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, visits map[id.Contact]Visits) error {
	if len(visits) == 0 {
		return nil
	}
	ids := slices.SortedFunc(maps.Keys(visits), id.Compare)
	if err := lockOrCreateActivities(ctx, tx, tenant, ids); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `
		SELECT contact_id, touch FROM contact_activity
		WHERE tenant_id = $1 AND contact_id`+tx.In(2), tenant, sqldb.List(tx, ids))
	t := tx.Table("contact_id UUID", "touch JSONB")
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		var text string
		if err := scan(&c, sqldb.ToText(&text)); err != nil {
			return err
		}
		var s storedTouches
		if text != "" {
			if err := json.Unmarshal([]byte(text), &s); err != nil {
				return fmt.Errorf("touches of contact %s: %w", c, err)
			}
		}
		if !s.visit(visits[c]) {
			return nil
		}
		b, err := json.Marshal(s)
		t.Add(c, string(b))
		return err
	})
	if err != nil {
		return fmt.Errorf("read touches of contacts: %w", err)
	}
	if _, err := t.Update(ctx, tx, "contact_activity", tenant); err != nil {
		return fmt.Errorf("save touches of contacts: %w", err)
	}
	return nil
}

// visit applies visits and reports whether they changed s.
func (s *storedTouches) visit(v Visits) bool {
	changed := false
	if f := v.First; f != nil && s.FirstAt == nil {
		s.FirstAt, s.FirstSource, s.FirstMedium, s.FirstCampaign = new(sqldb.Micros(f.At)), textOrNil(f.Source), textOrNil(f.Medium), textOrNil(f.Campaign)
		s.FirstCountry, s.FirstTimezone = textOrNil(f.Country), textOrNil(f.Timezone)
		s.FirstLandingURL, s.FirstReferrer = textOrNil(f.LandingURL), textOrNil(f.Referrer)
		changed = true
	}
	if l := v.Last; l != nil && (s.LastAt == nil || *s.LastAt <= sqldb.Micros(l.At)) {
		s.LastAt, s.LastSource, s.LastMedium, s.LastCampaign = new(sqldb.Micros(l.At)), textOrNil(l.Source), textOrNil(l.Medium), textOrNil(l.Campaign)
		changed = true
	}
	return changed
}

// textOrNil returns nil for an empty text.
func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Origin is a contact's source and its tags.
type Origin struct {
	Source string
	Tags   []string
}

// Origins returns the origins of contacts.
func Origins(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Contact) (map[id.Contact]Origin, error) {
	found := make(map[id.Contact]Origin, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `SELECT id, source, tags FROM contact WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	_, err = sqldb.Collect(rows, err, func(row func(...any) error) (c id.Contact, err error) {
		var o Origin
		var tags []byte
		if err := row(&c, sqldb.ToText(&o.Source), &tags); err != nil {
			return c, err
		}
		err = json.Unmarshal(tags, &o.Tags)
		found[c] = o
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("load origins of contacts: %w", err)
	}
	return found, nil
}
