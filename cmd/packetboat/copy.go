package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/edge/app"
	"github.com/packetboat/packetboat/internal/sqldb/dbcopy"
)

type copyCommand struct {
	From string `required:"" placeholder:"sqlite:FILE" help:"The database to copy. A relative path begins in the data directory."`
	To   string `required:"" placeholder:"postgres://…" help:"An empty database, or the target of a copy that was interrupted. Its password may be in PGPASSWORD or ~/.pgpass."`
}

// copyView is the outcome of a copy.
type copyView struct {
	Status  string         `json:"status"`
	EndedAt time.Time      `json:"ended_at"`
	Rows    int64          `json:"rows"`
	Tables  []dbcopy.Table `json:"tables"`
}

// Run copies, or continues a copy that was interrupted.
func (cmd copyCommand) Run(c *console) error {
	if !strings.HasPrefix(cmd.From, "sqlite:") {
		return usageError("--from takes sqlite: and a file")
	}
	if !strings.HasPrefix(cmd.To, "postgres://") && !strings.HasPrefix(cmd.To, "postgresql://") {
		return usageError("--to takes postgres:// and the address of a database")
	}
	report, err := app.Copy(c.ctx, c.cfg, cmd.From, cmd.To, dbcopy.Options{Progress: c.copying()})
	if err != nil {
		if c.ctx.Err() != nil {
			return fmt.Errorf("interrupted: run the same command again, and it goes on where it was (%w)", err)
		}
		return err
	}
	v := copyView{Status: "copied", EndedAt: report.EndedAt.UTC(), Tables: report.Tables}
	for _, t := range report.Tables {
		v.Rows += t.Rows
	}
	text := "copied and verified %d rows of %d tables\n"
	if report.AlreadyDone {
		v.Status = "copied before"
		text = "nothing to do: %d rows of %d tables were copied and verified at " + v.EndedAt.Format(time.RFC3339) + "\n"
	}
	return c.show(v, text+"Start packetboat with this database and the same secret key from now on, and never again with the SQLite file.\n", v.Rows, len(v.Tables))
}

// copying prints the progress of a copy to standard error, at a readable rate.
func (c *console) copying() func(dbcopy.Progress) {
	var last time.Time
	return func(p dbcopy.Progress) {
		if now := c.now(); now.Sub(last) >= 2*time.Second {
			last = now
			verb := "copied"
			if p.Verified {
				verb = "verified"
			}
			fmt.Fprintf(c.err, "packetboat: %s: %d rows %s\n", p.Table, p.Rows, verb)
		}
	}
}
