package transfer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/job"
	"github.com/packetboat/packetboat/internal/account/quota"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/engine/transfer"
)

func TestLongColumnNamesAreRefused(t *testing.T) {
	each(t, func(d *fixture) {
		for _, name := range []string{strings.Repeat("h", 201), strings.Repeat("ä", 201), strings.Repeat("h", 900_000)} {
			_, err := d.start("email,"+name+"\na@example.org,b\n", transfer.Options{Mapping: map[string]string{name: "first_name"}})
			f, ok := fault.As(err)
			if !ok || f.Code != fault.ErrInput.Code || len(f.Error()) > 1000 || !strings.Contains(fmt.Sprint(f.Details), "column 2") {
				d.Errorf("a name of %d bytes: %v", len(name), err)
			}
		}
		name := strings.Repeat("ä", 200)
		j := d.load("email,"+name+"\na@example.org,b\n", transfer.Options{Mapping: map[string]string{name: "first_name"}})
		if got := d.resultText(j); got != "completed 1: 1+0+0+0" {
			d.Errorf("a name of 200 characters: %s", got)
		}
	})
}

// What an import writes about refused rows is bounded by their number and by their bytes, in a dry run too.
func TestTheErrorsFileIsBounded(t *testing.T) {
	each(t, func(d *fixture) {
		const rows = 10_500
		long := strings.Repeat("x", 450_000)
		for name, c := range map[string]struct {
			text  string
			rows  int64
			lines int
		}{
			"short rows": {"email\n" + strings.Repeat("a\n", rows), rows, 10_000},
			"long rows":  {"email,note\n" + strings.Repeat("a,"+long+"\n", 50), 50, 46},
			"quotes":     {"email,note\n" + strings.Repeat(`a,"`+strings.Repeat(`""`, 225_000)+"\"\n", 50), 50, 46},
		} {
			for _, dry := range []bool{false, true} {
				j := d.load(c.text, transfer.Options{DryRun: dry})
				r, _, err := transfer.ImportResultOf(j)
				d.ok(err)
				if r.Rows != c.rows || r.Invalid != c.rows || r.Omitted != c.rows-int64(c.lines) {
					d.Errorf("%s: %+v, want %d rows, all invalid, %d in the errors file", name, r, c.rows, c.lines)
				}
				file, err := job.FileOf(d.Context(), d.db, d.tenant, j.ID, transfer.ErrorsFile)
				d.ok(err)
				if lines := len(d.errors(j)) - 1; lines != c.lines || file.Size > 20<<20 {
					d.Errorf("%s: the errors file has %d rows and %d bytes, want %d rows", name, lines, file.Size, c.lines)
				}
			}
		}
	})
}

// An import goes on when the account has no room for the rows that it refuses.
func TestAnImportGoesOnWithoutRoomForItsErrors(t *testing.T) {
	each(t, func(d *fixture) {
		j, err := d.start("email\na\nann@example.org\nb\n", transfer.Options{})
		d.ok(err)
		_, err = d.db.Exec(d.Context(), `UPDATE quota SET bytes = $2 WHERE tenant_id = $1`, d.tenant, quota.DefaultJobFiles)
		d.ok(err)
		d.run()
		j, err = job.ByID(d.Context(), d.db, d.tenant, j.ID)
		d.ok(err)
		r, _, err := transfer.ImportResultOf(j)
		d.ok(err)
		if got := d.resultText(j); got != "completed 3: 1+0+0+2" || r.Omitted != 2 {
			d.Errorf("the import = %s, %d rows omitted, want 2", got, r.Omitted)
		}
	})
}
