package wire

import (
	"context"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// resource is the operations on a kind of record. On returns them on another handle.
type resource[A any] interface{ On(db *sqldb.DB) A }

// Once returns an operation that runs in one transaction, together with the storing of its response, if the
// request has an Idempotency-Key. It must change only the database, and be quick: on SQLite, no other
// transaction runs meanwhile. Other operations call endpoint.Remember in their own transactions.
func Once[A resource[A], In, Out any](api A, db *sqldb.DB, op func(A, context.Context, auth.Principal, *In) (Out, error)) func(context.Context, auth.Principal, *In) (Out, error) {
	return func(ctx context.Context, p auth.Principal, in *In) (out Out, err error) {
		if !endpoint.HasKey(ctx) {
			return op(api, ctx, p, in)
		}
		err = db.InTx(ctx, func(tx *sqldb.DB) error {
			if out, err = op(api.On(tx), ctx, p, in); err != nil {
				return err
			}
			return endpoint.Remember(ctx, tx, out)
		})
		return out, err
	}
}
