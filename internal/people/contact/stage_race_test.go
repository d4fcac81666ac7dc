package contact_test

import (
	"errors"
	"testing"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// SQLite has one writer at a time.
func TestDeleteStageWaitsForContactsBeingMovedIntoIt(t *testing.T) {
	t.Parallel()
	db, ctx := dbtest.Postgres(t), t.Context()
	if _, err := contact.CreateStage(ctx, db, acme, contact.StageChange{Name: new("Lead"), Category: new(contact.Prospect)}, noon); err != nil {
		t.Fatal(err)
	}
	won, err := contact.CreateStage(ctx, db, acme, contact.StageChange{Name: new("Won"), Category: new(contact.Customer)}, noon)
	if err != nil {
		t.Fatal(err)
	}
	err = db.InTx(ctx, func(tx *sqldb.DB) error {
		if _, err := contact.Create(ctx, tx, acme, "ann@example.org", contact.Change{Stage: new(won.ID.String())}, rules, noon); err != nil {
			return err
		}
		err := db.InTx(ctx, func(other *sqldb.DB) error { // another connection
			if _, err := other.Exec(ctx, `SET LOCAL lock_timeout = '20ms'`); err != nil {
				return err
			}
			return contact.DeleteStage(ctx, other, acme, won.ID, contact.Stage{}.ID, usage.Finders{}, noon)
		})
		if err == nil || errors.Is(err, contact.ErrStageInUse) {
			t.Errorf("DeleteStage does not wait for a transaction that moves a contact into the stage: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := contact.DeleteStage(ctx, db, acme, won.ID, contact.Stage{}.ID, usage.Finders{}, noon); !errors.Is(err, contact.ErrStageInUse) {
		t.Errorf("DeleteStage = %v, want %v", err, contact.ErrStageInUse)
	}
}
