package contact

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/sqldb"
)

// Touches say where a contact first and last came from, on the website. Nil
// means that it is not known.
type Touches struct {
	FirstAt                                 *time.Time
	FirstCampaign, FirstMedium, FirstSource *string
	FirstCountry, FirstTimezone             *string
	FirstLandingURL, FirstReferrer          *string
	LastAt                                  *time.Time
	LastCampaign, LastMedium, LastSource    *string
}

// storedTouches are touches as they are kept.
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

// Touches returns where the contact came from.
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
