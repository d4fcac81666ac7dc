package transfer

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/quota"
	"github.com/packetboat/packetboat/internal/base/clip"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrorsFile is the name of the file with the rows that an import refused, or imported without cells whose values do
// not fit. It is written like the file that was sent, though in UTF-8 with a byte order mark, with errorColumns behind the
// unchanged cells: with the same options the rows are imported again, as they are or corrected.
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
	own := ownColumns(namesOf(im.Columns))
	var text []byte
	if fresh {
		text = im.Format.appendHeader([]byte(marks[utf8Text]), slices.Concat(namesOf(im.Columns[:own]), errorColumns))
	}
	omitted := at.Sum.Omitted
	full := omitted > 0
	listed := at.Sum.Invalid + at.Sum.Unfit - at.Sum.Omitted - int64(len(e.rows)) // rows in the file so far
	for i, t := range e.rows {
		before := len(text)
		if full = full || listed == maxErrorRows; !full {
			text = im.Format.appendRow(text, t.errorCells(own))
			full = file.Size+int64(len(text)) > maxErrorBytes
		}
		if full {
			text = text[:before]
			at.Sum.Omitted += int64(len(e.rows) - i)
			break
		}
		listed++
	}
	if len(text) > 0 && fresh {
		file, err = job.NewFile(ctx, tx, im.Job.Tenant, im.Job.ID, ErrorsFile, "text/csv; charset=utf-8", im.Now())
		if err != nil {
			return err
		}
	}
	if err = file.Append(ctx, tx, text); errors.Is(err, quota.ErrFull) {
		at.Sum.Omitted = omitted + int64(len(e.rows)) // the import goes on
		return nil
	}
	return err
}

// errorCells returns the row as it is in the errors file of a file with some columns.
func (t row) errorCells(columns int) []string {
	cells := make([]string, columns, columns+len(errorColumns))
	copy(cells, t.cells)
	for i, cell := range cells {
		cells[i] = escapeFormula(unescapeFormula(cell))
	}
	return append(cells,
		strconv.FormatInt(t.number, 10), escapeFormula(t.err.column), t.err.code, escapeFormula(clip.Ellipsis(t.err.message, maxMessage)))
}
