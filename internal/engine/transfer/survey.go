package transfer

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/field"
)

// Limits of what a report says about a file.
const (
	maxListed      = 500 // columns
	maxSamples     = 3   // of a column
	maxSample      = 60  // characters
	maxSampleBytes = 32 << 10
)

// survey is what a pass through all rows finds out before any is saved.
type survey struct {
	columns []ColumnReport // the first maxListed
	omitted int            // the others
	tallies map[int]*tally // of columns that have forms
	unknown map[int]*words // of columns that nothing knows
	rows    int64
	left    int // bytes that samples may still have
}

// takeSurvey reads all rows, which takes little time compared with saving them.
func takeSurvey(rows *Rows, columns []column, fields field.Catalog) (survey, error) {
	own := ownColumns(namesOf(columns))
	s := survey{columns: make([]ColumnReport, min(own, maxListed)), omitted: own - min(own, maxListed), tallies: map[int]*tally{}, unknown: map[int]*words{}, left: maxSampleBytes}
	for i, c := range columns {
		if c.By == "" && i < own && len(s.unknown) < maxListed {
			s.unknown[i] = &words{}
		}
		if k := kindOf(c.Target, fields); k != plainKind {
			s.tallies[i] = &tally{kind: k}
		}
	}
	for i := range s.columns {
		c := columns[i]
		s.columns[i] = ColumnReport{Name: c.Name, Key: c.key(), By: c.By, Samples: []string{}}
		if c.Target != "" {
			s.columns[i].Target = &c.Target
		}
	}
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return s, err
		}
		s.rows++
		if row.Flaw != "" {
			continue
		}
		s.sample(row.Cells)
		for i, t := range s.tallies {
			if i < len(row.Cells) {
				t.add(unescapeFormula(row.Cells[i]))
			}
		}
		for i, w := range s.unknown {
			if i < len(row.Cells) && !w.add(row.Cells[i]) {
				delete(s.unknown, i)
			}
		}
	}
}

// forms returns the forms of columns, those that the caller gave before those that are likely, and notes them in the
// report. Problems are the columns that have more than one likely form.
func (s *survey) forms(columns []column, separator byte) (map[int]form, fault.Problems) {
	var p fault.Problems
	forms := map[int]form{}
	for _, i := range slices.Sorted(maps.Keys(s.tallies)) {
		c, t := columns[i], s.tallies[i]
		likely, either := t.form(separator)
		if c.Form != "" {
			likely, either = c.Form, nil
		}
		if len(either) > 0 {
			p.Add("options.forms."+c.key(), fmt.Sprintf("%s and %s are both possible: say which", either[0], either[1]))
		}
		if t.kind != booleanKind || c.Form != "" { // without a form any word for true and false is read
			forms[i] = likely
		}
		if i < len(s.columns) {
			s.columns[i].Form, s.columns[i].Either = likely, either
		}
	}
	return forms, p
}

// words counts the statuses in a column.
type words struct {
	worse int // than active
}

// add counts a cell, and reports whether all cells so far may be statuses.
func (w *words) add(cell string) bool {
	if cell = trimmed(cell); cell == "" {
		return true
	}
	status, ok := parseStatus(cell)
	if ok && status != contact.Active {
		w.worse++
	}
	return ok
}

// warnings names the columns that look like statuses and are left out although nobody said so: people who must get
// no mail would become active.
func (s *survey) warnings(columns []column) fault.Problems {
	var p fault.Problems
	for _, i := range slices.Sorted(maps.Keys(s.unknown)) {
		if s.unknown[i].worse > 0 {
			p.Add("options.mapping."+columns[i].key(), "looks like a status, and is left out; map it to global_status, or to null if it is about something else")
		}
	}
	return p
}

// sample keeps the values of a row that are new.
func (s *survey) sample(cells []string) {
	for i := range min(len(cells), len(s.columns)) {
		c := &s.columns[i]
		if len(c.Samples) == maxSamples || s.left == 0 {
			continue
		}
		value := clip.Ellipsis(strings.TrimSpace(unescapeFormula(cells[i])), maxSample)
		if value == "" || slices.Contains(c.Samples, value) {
			continue
		}
		if s.left -= len(value); s.left < 0 {
			s.left = 0
			continue
		}
		c.Samples = append(c.Samples, value)
	}
}
