package contact

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/id"
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
	FirstAt         *int64  `json:"first_touch_at"`
	FirstCampaign   *string `json:"first_touch_campaign"`
	FirstMedium     *string `json:"first_touch_medium"`
	FirstSource     *string `json:"first_touch_source"`
	FirstCountry    *string `json:"first_touch_country"`
	FirstTimezone   *string `json:"first_touch_timezone"`
	FirstLandingURL *string `json:"first_touch_landing_url"`
	FirstReferrer   *string `json:"first_touch_referrer"`
	LastAt          *int64  `json:"last_touch_at"`
	LastCampaign    *string `json:"last_touch_campaign"`
	LastMedium      *string `json:"last_touch_medium"`
	LastSource      *string `json:"last_touch_source"`
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
