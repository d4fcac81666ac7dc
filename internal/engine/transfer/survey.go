package transfer

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/clip"
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
	rows    int64
	left    int // bytes that samples may still have
}

// takeSurvey reads all rows, which takes little time compared with saving them.
func takeSurvey(rows *Rows, columns []column) (survey, error) {
	s := survey{columns: make([]ColumnReport, min(len(columns), maxListed)), left: maxSampleBytes}
	for i := range s.columns {
		c := columns[i]
		s.columns[i] = ColumnReport{Name: c.Name, By: c.By, Samples: []string{}}
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
		if row.Flaw == "" {
			s.sample(row.Cells)
		}
	}
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
