package app

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestALogThatGrowsIsSaidOnce(t *testing.T) {
	t.Parallel()
	db := dbtest.SQLite(t)
	var out bytes.Buffer
	l := &databaseLog{db: db, log: slog.New(slog.NewTextHandler(&out, nil)), max: 1}
	look := func(want string) {
		t.Helper()
		out.Reset()
		if err := l.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("logged %q, want %q", got, want)
		}
	}
	write := func() {
		t.Helper()
		if _, err := db.Exec(t.Context(), `INSERT INTO write_probe (name, at) VALUES ('x', 1) ON CONFLICT (name) DO UPDATE SET at = write_probe.at + 1`); err != nil {
			t.Fatal(err)
		}
	}
	write()
	look("") // it could be emptied
	err := db.Evaluate(t.Context(), "reader", func(ctx context.Context, tx *sqldb.DB) error {
		if err := tx.Ping(ctx); err != nil {
			return err
		}
		var n int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM write_probe`).Scan(&n); err != nil {
			return err
		}
		write()
		look("the log of the database grows")
		write()
		look("")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	look("small again")
}
