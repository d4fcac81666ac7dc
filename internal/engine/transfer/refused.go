package transfer

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrorsFile is the name of the file with the rows that an import refused. Each row is unchanged,
// after the columns errorColumns, so the file can be corrected and imported as it is.
const ErrorsFile = "errors"

// errorColumns describe what is wrong with a row: its number as spreadsheets count, the column if
// it concerns one, and the reason.
var errorColumns = []string{"error_row", "error_column", "error_code", "error_message"}

// maxMessage is the maximum length of a message.
const maxMessage = 500

// errorRows collects the rows that a step refused.
type errorRows struct{ rows []row }

func (e *errorRows) add(t row) { e.rows = append(e.rows, t) }

// write appends the rows to the errors file, which is created with the first of them.
func (e *errorRows) write(ctx context.Context, tx *sqldb.DB, im *importRun) error {
	if len(e.rows) == 0 {
		return nil
	}
	file, err := job.FileOf(ctx, tx, im.Job.Tenant, im.Job.ID, ErrorsFile)
	fresh := errors.Is(err, job.ErrNoFile)
	if fresh {
		file, err = job.NewFile(ctx, tx, im.Job.Tenant, im.Job.ID, ErrorsFile, "text/csv; charset=utf-8", im.Now())
	}
	if err != nil {
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
	}
	for _, t := range e.rows {
		message := t.err.message
		if len(message) > maxMessage {
			message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
		}
		cells := append([]string{strconv.FormatInt(t.number, 10), escapeFormula(t.err.column), t.err.code, escapeFormula(message)}, t.cells...)
		for i := len(errorColumns); i < len(cells); i++ {
			cells[i] = escapeFormula(unescapeFormula(cells[i]))
		}
		if err := w.Write(cells); err != nil {
			return fmt.Errorf("write the errors file: %w", err)
		}
	}
	w.Flush()
	return file.Append(ctx, tx, text.Bytes())
}
