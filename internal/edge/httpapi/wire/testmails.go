package wire

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/message/render"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/senders/testmail"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Tester sends test mails. Try sends one mail through an MTA config, from an identity that it
// chooses if none is given, and returns the server's reply. An error means that no mail was tried.
// Connect opens a connection with settings that need not be stored, logs in, and closes it.
type Tester interface {
	Try(ctx context.Context, tenant id.Tenant, config id.Lane, identity id.Identity, to string) (lane.Trial, error)
	Connect(ctx context.Context, c lane.Config, secret, to string) (lane.Trial, error)
	render.TestSender
}

// BeginTest counts the mails of a test and writes it to the audit log, before they are sent. With an
// Idempotency-Key, a test that has begun is not repeated.
func BeginTest(ctx context.Context, db *sqldb.DB, c testmail.Call, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := testmail.Begin(ctx, tx, c, now); err != nil {
			return err
		}
		return endpoint.Begin(ctx, tx)
	})
}
