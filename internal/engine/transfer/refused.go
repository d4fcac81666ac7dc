package transfer

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/quota"
	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrorsFile is the name of the file with the rows that an import refused, or imported without cells whose values do
// not fit. Each row is unchanged, after the columns errorColumns, so the file can be corrected and imported as it is.
const ErrorsFile = "errors"

// errorColumns describe what is wrong with a row: its number as spreadsheets count, the column if
// it concerns one, and the reason.
var errorColumns = []string{"error_row", "error_column", "error_code", "error_message"}

// Limits of what an import writes about such rows. Each is longer in the errors file than it was
// in the input, so that without a limit a file of one letter a row would become one that is thirty times as large.
const (
	maxErrorRows  = 10_000
	maxErrorBytes = 20 << 20
	maxMessage    = 500 // characters
)

// errorRows collects such rows of a step.
type errorRows struct{ rows []row }

func (e *errorRows) add(t row) { e.rows = append(e.rows, t) }

// write appends the rows to the errors file, which is created with the first of them, and counts in at those that
// are omitted because the file is full. Behind the first such row no other is written.
func (e *errorRows) write(ctx context.Context, tx *sqldb.DB, im *importRun, at *checkpoint) error {
	if len(e.rows) == 0 {
		return nil
	}
	file, err := job.FileOf(ctx, tx, im.Job.Tenant, im.Job.ID, ErrorsFile)
	fresh := errors.Is(err, job.ErrNoFile)
	if err != nil && !fresh {
		return err
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	if fresh {
		names := slices.Clone(errorColumns)
		for _, c := range im.Columns {
			names = append(names, escapeFormula(c.Name))
		}
		if err := w.Write(names); err != nil {
			return fmt.Errorf("write the errors file: %w", err)
		}
		w.Flush()
	}
	omitted := at.Sum.Omitted
	full := omitted > 0
	listed := at.Sum.Invalid + at.Sum.Unfit - at.Sum.Omitted - int64(len(e.rows)) // rows in the file so far
	for i, t := range e.rows {
		before := text.Len()
		if full = full || listed == maxErrorRows; !full {
			if err := w.Write(t.errorCells()); err != nil {
				return fmt.Errorf("write the errors file: %w", err)
			}
			w.Flush()
			full = file.Size+int64(text.Len()) > maxErrorBytes
		}
		if full {
			text.Truncate(before)
			at.Sum.Omitted += int64(len(e.rows) - i)
			break
		}
		listed++
	}
	if text.Len() > 0 && fresh {
		file, err = job.NewFile(ctx, tx, im.Job.Tenant, im.Job.ID, ErrorsFile, "text/csv; charset=utf-8", im.Now())
		if err != nil {
			return err
		}
	}
	if err = file.Append(ctx, tx, text.Bytes()); errors.Is(err, quota.ErrFull) {
		at.Sum.Omitted = omitted + int64(len(e.rows)) // the import goes on
		return nil
	}
	return err
}

// errorCells returns the row as it is in the errors file.
func (t row) errorCells() []string {
	cells := append([]string{
		strconv.FormatInt(t.number, 10), escapeFormula(t.err.column), t.err.code, escapeFormula(clip.Ellipsis(t.err.message, maxMessage)),
	}, t.cells...)
	for i := len(errorColumns); i < len(cells); i++ {
		cells[i] = escapeFormula(unescapeFormula(cells[i]))
	}
	return cells
}
