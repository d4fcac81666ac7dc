package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/quota"
	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Report says how an import read its file. It has samples of people's data, so it is a file of the job, which is erased
// with the others, and not part of the job's result.
type Report struct {
	File           FileRead       `json:"file"`
	Options        ReportOptions  `json:"options"`
	Questions      []fault.Field  `json:"questions,omitempty"`       // of a dry run: what an import would be refused for
	Warnings       []fault.Field  `json:"warnings,omitempty"`        // what an import does that may not be meant
	Columns        []ColumnReport `json:"columns"`                   // the first maxListed
	ColumnsOmitted int            `json:"columns_omitted,omitempty"` // the others
	Faults         []FaultReport  `json:"faults"`                    // in the order of their first rows, up to maxFaults
}

// FaultReport is a problem that rows of a file have in common.
type FaultReport struct {
	Column  string        `json:"column,omitempty"` // its key; empty: the problem is with the whole row
	Code    string        `json:"code"`
	Message string        `json:"message"`
	Rows    int64         `json:"rows"`
	Samples []FaultSample `json:"samples"` // the first different values
}

// FaultSample is one of the rows that have a problem.
type FaultSample struct {
	Row   int64  `json:"row"` // as spreadsheets count
	Value string `json:"value,omitempty"`
}

// maxFaults is how many different problems a report lists.
const maxFaults = 50

// addFault counts a problem of a row.
func (r *Report) addFault(row int64, why rowError) {
	message := clip.Ellipsis(why.message, maxMessage)
	i := slices.IndexFunc(r.Faults, func(f FaultReport) bool {
		return f.Column == why.column && f.Code == why.code && f.Message == message
	})
	if i < 0 {
		if len(r.Faults) == maxFaults {
			return
		}
		i = len(r.Faults)
		r.Faults = append(r.Faults, FaultReport{Column: why.column, Code: why.code, Message: message})
	}
	f := &r.Faults[i]
	f.Rows++
	value := clip.Ellipsis(trimmed(why.value), maxSample)
	if len(f.Samples) < maxSamples && !slices.ContainsFunc(f.Samples, func(s FaultSample) bool { return s.Value == value }) {
		f.Samples = append(f.Samples, FaultSample{row, value})
	}
}

// cloneFaults returns a copy that shares nothing with list.
func cloneFaults(list []FaultReport) []FaultReport {
	list = slices.Clone(list)
	for i := range list {
		list[i].Samples = slices.Clone(list[i].Samples)
	}
	return list
}

// ReportOptions are the options of an import that are not about its columns, as a request has them.
type ReportOptions struct {
	Mode          Mode            `json:"mode"`
	Tags          []string        `json:"tags,omitempty"`
	SegmentKey    string          `json:"segment_key,omitempty"`
	Subscriptions map[string]bool `json:"subscriptions,omitempty"`
	UpdateBlank   bool            `json:"update_blank,omitempty"`
	Strict        bool            `json:"strict,omitempty"`
}

// FileRead is how a file was read.
type FileRead struct {
	Encoding  string   `json:"encoding"` // such as utf-8
	Separator string   `json:"separator"`
	Quote     string   `json:"quote"`
	Sheet     string   `json:"sheet,omitempty"` // of a workbook
	Sheets    []string `json:"sheets,omitempty"`
}

// ColumnReport is a column of an imported file, and where it went.
type ColumnReport struct {
	Name    string   `json:"name"`
	Key     string   `json:"key"`              // what options call it: its name, or "#3" if others have the name
	Target  *string  `json:"target"`           // null: left out
	By      mapper   `json:"by,omitempty"`     // what decided that; empty: nothing knows the column
	Form    form     `json:"form,omitempty"`   // how its dates, numbers or booleans are read
	Either  []form   `json:"either,omitempty"` // forms that are as likely as each other; the first is tried
	Samples []string `json:"samples"`          // the first different values, shortened
}

// ReportOf returns the report of an import that has ended, or nil: if it was not completed, if its files are no
// longer kept, or if somebody was anonymized since.
func ReportOf(ctx context.Context, db *sqldb.DB, j job.Job, now time.Time) (*Report, error) {
	file, err := FileOf(ctx, db, j, job.Report, now)
	if errors.Is(err, job.ErrNoFile) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &Report{}
	text, err := io.ReadAll(file.Reader(ctx, db, 0))
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil {
		return nil, fmt.Errorf("read the report of job %s: %w", j.ID, err)
	}
	for i := range r.Columns {
		c := &r.Columns[i]
		c.Key = cmp.Or(c.Key, c.Name) // of an earlier version
	}
	return r, nil
}

// write stores the report as a file of the job.
func (r Report) write(ctx context.Context, tx *sqldb.DB, im *importRun) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	file, err := job.NewFile(ctx, tx, im.Job.Tenant, im.Job.ID, job.Report, "application/json", im.Now())
	if err != nil {
		return err
	}
	if err = file.Append(ctx, tx, text); errors.Is(err, quota.ErrFull) {
		return file.Delete(ctx, tx) // an import does not fail for it
	}
	return err
}
