package httpapi

import (
	"context"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/senders/testmail"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// resource is the operations on a kind of record. on returns them on another handle.
type resource[A any] interface{ on(db *sqldb.DB) A }

// once returns an operation that runs in one transaction, together with the storing of its response, if the
// request has an Idempotency-Key. It must change only the database, and be quick: on SQLite, no other
// transaction runs meanwhile. Other operations call endpoint.Remember in their own transactions.
func once[A resource[A], In, Out any](api A, db *sqldb.DB, op func(A, context.Context, auth.Principal, *In) (Out, error)) func(context.Context, auth.Principal, *In) (Out, error) {
	return func(ctx context.Context, p auth.Principal, in *In) (out Out, err error) {
		if !endpoint.HasKey(ctx) {
			return op(api, ctx, p, in)
		}
		err = db.InTx(ctx, func(tx *sqldb.DB) error {
			if out, err = op(api.on(tx), ctx, p, in); err != nil {
				return err
			}
			return endpoint.Remember(ctx, tx, out)
		})
		return out, err
	}
}

func (api accountAPI) on(db *sqldb.DB) accountAPI           { api.db = db; return api }
func (api apiKeysAPI) on(db *sqldb.DB) apiKeysAPI           { api.db = db; return api }
func (api automationsAPI) on(db *sqldb.DB) automationsAPI   { api.db = db; return api }
func (api broadcastsAPI) on(db *sqldb.DB) broadcastsAPI     { api.db = db; return api }
func (api customFieldsAPI) on(db *sqldb.DB) customFieldsAPI { api.db = db; return api }
func (api domainsAPI) on(db *sqldb.DB) domainsAPI           { api.db = db; return api }
func (api emailTypesAPI) on(db *sqldb.DB) emailTypesAPI     { api.db = db; return api }
func (api formsAPI) on(db *sqldb.DB) formsAPI               { api.db = db; return api }
func (api identitiesAPI) on(db *sqldb.DB) identitiesAPI     { api.db = db; return api }
func (api messagesAPI) on(db *sqldb.DB) messagesAPI         { api.db = db; return api }
func (api mtaConfigsAPI) on(db *sqldb.DB) mtaConfigsAPI     { api.db = db; return api }
func (api savedFiltersAPI) on(db *sqldb.DB) savedFiltersAPI { api.db = db; return api }
func (api seedListsAPI) on(db *sqldb.DB) seedListsAPI       { api.db = db; return api }
func (api segmentsAPI) on(db *sqldb.DB) segmentsAPI         { api.db = db; return api }
func (api sequencesAPI) on(db *sqldb.DB) sequencesAPI       { api.db = db; return api }
func (api stagesAPI) on(db *sqldb.DB) stagesAPI             { api.db = db; return api }
func (api suppressionsAPI) on(db *sqldb.DB) suppressionsAPI { api.db = db; return api }
func (api webhooksAPI) on(db *sqldb.DB) webhooksAPI         { api.db = db; return api }

// on also replaces the saver, since one that saves the contacts of many requests together has its own transactions.
func (api contactsAPI) on(db *sqldb.DB) contactsAPI {
	api.db, api.saver = db, &contact.Saver{DB: db, Rules: api.saver.Rules, Now: api.saver.Now}
	return api
}

// beginTest counts the mails of a test and writes it to the audit log, before they are sent. With an
// Idempotency-Key, a test that has begun is not repeated.
func beginTest(ctx context.Context, db *sqldb.DB, c testmail.Call, now time.Time) error {
	return db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := testmail.Begin(ctx, tx, c, now); err != nil {
			return err
		}
		return endpoint.Begin(ctx, tx)
	})
}
