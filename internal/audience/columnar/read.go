package columnar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// readAtOnce is the number of changed contacts that one statement reads.
const readAtOnce = 5000

// lookEach is the number of contacts that are read before the size of the table is looked at again.
const lookEach = 256

// errTooLarge means that a table would take more memory than all tables may.
var errTooLarge = errors.New("the values of the attributes take too much memory")

// load reads all contacts of a tenant within the evaluation db. It returns errTooLarge once the table takes more than a
// number of bytes.
func load(ctx context.Context, db *sqldb.DB, tenant id.Tenant, attributes []rule.Attribute, contacts, most int) (*table, error) {
	t := newTable(attributes, contacts)
	add := func(r row) error {
		t.load(r)
		if len(t.flags)%lookEach == 0 && t.size() > most {
			return errTooLarge
		}
		return nil
	}
	err := readRows(ctx, db, attributes, `FALSE FROM contact c WHERE c.tenant_id = $1 ORDER BY c.id /* reads the tenant: to keep it */`, add, tenant)
	if err == nil && t.size() > most {
		err = errTooLarge
	}
	if err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, `
		SELECT c.id FROM suppression x JOIN contact c ON c.tenant_id = x.tenant_id AND c.email = x.email
		WHERE x.tenant_id = $1 /* reads the tenant: to keep it */`, tenant)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var c id.Contact
		err := scan(&c)
		if at, ok := t.position(c); ok {
			t.flags[at] |= listed
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read which addresses are suppressed: %w", err)
	}
	return t, nil
}

// changed reads contacts that have changed.
func (t *table) changed(ctx context.Context, db *sqldb.DB, tenant id.Tenant, c contactlog.Changes) (list []row, err error) {
	const from = `x.email IS NOT NULL FROM contact c LEFT JOIN suppression x ON x.tenant_id = c.tenant_id AND x.email = c.email
		WHERE c.tenant_id = $1 AND `
	collect := func(r row) error {
		list = append(list, row{r.id, r.flags, slices.Clone(r.values)})
		return nil
	}
	slices.SortFunc(c.Contacts, id.Compare)
	for part := range slices.Chunk(slices.Compact(c.Contacts), readAtOnce) {
		if err := readRows(ctx, db, t.attributes, from+`c.id`+db.In(2), collect, tenant, sqldb.List(db, part)); err != nil {
			return nil, err
		}
	}
	slices.Sort(c.Addresses)
	for part := range slices.Chunk(slices.Compact(c.Addresses), readAtOnce) {
		if err := readRows(ctx, db, t.attributes, from+`c.email`+db.In(2), collect, tenant, sqldb.List(db, part)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// readRows reads contacts, and calls do for each, with values that it uses again. rest is the end of the
// statement, which begins with the expression of whether the address is suppressed.
func readRows(ctx context.Context, db *sqldb.DB, attributes []rule.Attribute, rest string, do func(row) error, args ...any) error {
	var list strings.Builder
	for _, a := range attributes {
		list.WriteString(a.SQL(db) + ", ")
	}
	rows, err := db.Query(ctx, `SELECT c.id, c.global_status, c.do_not_contact, c.anonymized_at IS NOT NULL, `+list.String()+rest, args...)
	var status contact.Status
	var excluded, anonymized, onList bool
	r := row{values: make([]value, len(attributes))}
	read := make([]any, len(attributes))
	dest := []any{&r.id, sqldb.ToText(&status), &excluded, &anonymized}
	for i := range read {
		dest = append(dest, &read[i])
	}
	dest = append(dest, &onList)
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		if err := scan(dest...); err != nil {
			return err
		}
		r.flags = flagsOf(status, excluded, anonymized, onList)
		for i, v := range read {
			r.values[i].text, r.values[i].known = rule.TextOf(v)
		}
		return do(r)
	})
	if err != nil {
		return fmt.Errorf("read attributes of contacts: %w", err)
	}
	return nil
}
