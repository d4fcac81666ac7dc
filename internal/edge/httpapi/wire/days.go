package wire

import (
	"fmt"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/spread"
	"github.com/packetboat/packetboat/internal/view/report"
)

// DayRange is a range of days of the account's time zone.
type DayRange struct {
	From string `query:"from" as:"text" format:"date" doc:"The first day; 29 days before to when absent."`
	To   string `query:"to" as:"text" format:"date" doc:"The last day; today when absent. A range has at most 400 days."`
}

// Days parses the range of days, which ends at the given day if it is not given.
func (in DayRange) Days(problems *fault.Problems, today spread.Day) (first, last spread.Day) {
	parse := func(name, text string, absent spread.Day) spread.Day {
		if text == "" {
			return absent
		}
		d, err := spread.ParseDay(text)
		if err != nil || d < "0002-01-01" || d > "9998-12-31" {
			problems.Add(name, "must be a day as YYYY-MM-DD")
			return absent
		}
		return d
	}
	last = parse("to", in.To, today)
	first = parse("from", in.From, last.Add(-29))
	switch {
	case first > last:
		problems.Add("from", "must not be after to")
	case first.Add(report.MaxOverviewDays) <= last:
		problems.Add("from", fmt.Sprintf("must be at most %d days before to", report.MaxOverviewDays-1))
	}
	return first, last
}
