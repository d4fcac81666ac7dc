package main

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/message/outbox"
	"github.com/packetboat/packetboat/internal/sqldb"
)

func TestRecountReportsAndCorrectsDifferences(t *testing.T) {
	each(t, func(t *testing.T, p program) {
		p.ok("tenant", "create", "--slug=acme", "--name=Acme")
		if out := p.ok("recount", "--check"); out != "0 sends, 0 messages and 0 contacts counted, 0 differences found\n" {
			t.Errorf("recount of nothing printed %q", out)
		}
		send := id.New[id.Send]()
		func() {
			db, err := sqldb.Open(t.Context(), strings.TrimPrefix(p.args[0], "--database-url="), sqldb.Options{MaxConns: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			acme, err := tenant.BySlug(t.Context(), db, "acme")
			if err != nil {
				t.Fatal(err)
			}
			err = db.InTx(t.Context(), func(tx *sqldb.DB) error {
				if err := outbox.Create(t.Context(), tx, outbox.Send{Tenant: acme.ID, ID: send, Source: outbox.FromBroadcast(id.New[id.Broadcast]())}, outbox.Terms{}, acme.CreatedAt); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), `UPDATE send SET bounced = 2 WHERE tenant_id = $1 AND id = $2`, acme.ID, send)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}()
		difference := "tenant acme: send " + send.String() + ": bounced: stored 2, counted 0\n"
		o := p.run("", "recount", "--check", "--tenant=acme")
		if o.status != exitFailure || !strings.HasPrefix(o.out, difference) || !strings.Contains(o.err, "1 sums differ") {
			t.Errorf("recount --check = %+v", o)
		}
		v := p.json("recount")
		if v["repaired"] != true || v["sends"] != 1.0 || len(v["differences"].([]any)) != 1 {
			t.Errorf("recount printed %v", v)
		}
		p.ok("recount", "--check")
		if o := p.run("", "recount", "--tenant=none"); o.status != exitFailure || !strings.Contains(o.err, "there is no tenant") {
			t.Errorf("an unknown tenant: %+v", o)
		}
	})
}
