package form

import (
	"context"
	"errors"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Unconfirmable returns the published forms whose confirmation mail no sender can send now.
func Unconfirmable(ctx context.Context, db *sqldb.DB, t id.Tenant) ([]Form, error) {
	forms, err := List(ctx, db, t, Published)
	if err != nil {
		return nil, err
	}
	b, err := loadBindings(ctx, db, t)
	if err != nil {
		return nil, err
	}
	var found []Form
	known := map[id.EmailType]error{} // forms with the same type have the same senders
	for _, f := range forms {
		if !f.DoubleOptIn {
			continue
		}
		typ := f.consentedType(b)
		err, ok := known[typ]
		if !ok {
			_, err = f.confirmRoute(ctx, db, b, id.Contact{})
			known[typ] = err
		}
		switch {
		case errors.Is(err, errNoRoute):
			found = append(found, f)
		case err != nil:
			return nil, err
		}
	}
	return found, nil
}
