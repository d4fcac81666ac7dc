package trigger

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/calendar"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// How often a trigger by date fires.
const (
	Once   = "none"
	Yearly = "yearly" // on each anniversary
)

// dates is the part of a trigger by date that determines when it fires.
type dates struct {
	Field  string           `json:"field"`
	Offset *calendar.Offset `json:"offset,omitempty"`
	Time   string           `json:"time,omitempty"` // of day; "": that of the date
	Repeat string           `json:"repeat"`
}

// dates returns the part of a trigger by date that determines when it fires.
func (t Trigger) dates() dates {
	return dates{Field: t.Config.Field, Offset: t.Config.Offset, Time: t.Config.Time, Repeat: t.Config.Repeat}
}

// version returns a digest of d.
func (d dates) version() int64 {
	text, _ := json.Marshal(d) // texts and numbers always encode
	h := fnv.New64a()
	h.Write(text)
	return int64(binary.BigEndian.Uint64(h.Sum(nil)))
}

// checkDate checks the fields of a trigger by date, and sets those that are optional.
func (c *Config) checkDate(path string, p *fault.Problems) {
	if c.Field == "" {
		p.Add(below(path, "field"), "is required")
	}
	if c.Offset != nil {
		if err := c.Offset.Check("offset"); err != nil {
			for line := range strings.Lines(err.Error()) {
				name, message, _ := strings.Cut(strings.TrimSpace(line), ": ")
				p.Add(below(path, name), message)
			}
		}
	}
	if c.Time != "" && !calendar.ValidTime(c.Time) {
		p.Add(below(path, "time"), "must be a time such as 09:00")
	}
	switch c.Repeat {
	case "":
		c.Repeat = Once
	case Once, Yearly:
	default:
		p.Add(below(path, "repeat"), "must be one of none, yearly")
	}
}

// referDate checks the field of a trigger by date.
func (c Config) referDate(s rule.Schema, path string, p *fault.Problems) {
	key, custom := customKey(c.Field)
	f, known := s.Fields[key]
	if c.Field != "created_at" && !(custom && known && (f.Type == field.Date || f.Type == field.DateTime)) {
		p.Add(below(path, "field"), fmt.Sprintf("must be created_at or a custom field of type date or datetime; there is no such field %q", c.Field))
	}
}

// DateOf returns the date in a field of a contact, as rules name it; nil if there is none.
func DateOf(s rule.Schema, name string, c contact.Contact) *calendar.Date {
	if name == "" {
		return nil
	}
	key, custom := customKey(name)
	if !custom {
		v, _ := c.Value(name)
		switch v := v.(type) {
		case time.Time:
			return &calendar.Date{At: v}
		case *time.Time:
			if v != nil {
				return &calendar.Date{At: *v}
			}
		}
		return nil
	}
	text, ok := c.CustomFields[key].(string)
	if !ok {
		return nil
	}
	switch s.Fields[key].Type {
	case field.Date:
		if day, ok := sqldb.ParseDay(text); ok {
			if at, err := time.Parse(time.DateOnly, day); err == nil {
				return &calendar.Date{At: at, Day: true}
			}
		}
	case field.DateTime:
		if micros, ok := sqldb.ParseMoment(text); ok {
			return &calendar.Date{At: sqldb.Time(micros)}
		}
	}
	return nil
}

// ZoneOf returns the contact's time zone, or the account's if it has none.
func ZoneOf(c contact.Contact, account *time.Location) *time.Location {
	if c.Timezone != nil {
		if zone, err := time.LoadLocation(*c.Timezone); err == nil {
			return zone
		}
	}
	return account
}

// maxYears is more than the distance in years between an anniversary and when it is due.
const maxYears = 7

// occurrence is a date that a trigger fires for: the value of a contact's field, or its anniversary
// in a year.
type occurrence struct {
	value time.Time
	year  int // 0: the date itself
}

// coming is what is to come for a contact and a trigger by date.
type coming struct {
	occurrence
	due   *time.Time  // nil: nothing
	fired *occurrence // the last that fired; nil: none
}

// at returns when an occurrence of a date is due.
func (d dates) at(date calendar.Date, year int, zone *time.Location) time.Time {
	if year != 0 {
		date = date.InYear(year, zone)
	}
	return date.Near(d.Offset, d.Time, zone).UTC().Truncate(time.Microsecond)
}

// reschedule returns what is to come for a contact with a date, nil being none, in a time zone. An
// occurrence that is to come already stays so, whatever the zone. Others are those that are due after
// a time, and have not fired.
func (d dates) reschedule(c coming, date *calendar.Date, zone *time.Location, after time.Time) coming {
	if date == nil {
		return coming{occurrence: c.occurrence, fired: c.fired}
	}
	if c.due != nil && c.value.Equal(date.At) {
		due := d.at(*date, c.year, zone)
		c.due = &due
		return c
	}
	next := coming{occurrence: occurrence{value: date.At}, fired: c.fired}
	first, last := 0, 0
	if d.Repeat == Yearly {
		first = max(date.Year(zone), after.In(zone).Year()-maxYears)
		last = max(first, after.In(zone).Year()+maxYears)
	}
	for year := first; year <= last; year++ {
		if c.fired != nil && c.fired.value.Equal(date.At) && year <= c.fired.year {
			continue
		}
		if due := d.at(*date, year, zone); due.After(after) {
			next.year, next.due = year, &due
			break
		}
	}
	return next
}

// passed returns what is to come after the occurrence that was to come.
func (d dates) passed(c coming, date *calendar.Date, zone *time.Location) coming {
	at := *c.due
	return d.reschedule(coming{occurrence: c.occurrence, fired: &c.occurrence}, date, zone, at)
}

// reached is the data of an entry about a date of a contact that was reached.
type reached struct {
	Holder  id.Holder `json:"holder_id"`
	Version int64     `json:"version,string"`
	Date    string    `json:"date"` // of the occurrence, in the contact's zone
}
