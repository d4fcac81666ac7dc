// Package revision counts the writes of records, and refuses writes that were made on another revision
// than the present one (RFC 9110, section 13.1.1).
//
// The row of a record has a number that each write of what users edit increases. A request may state the
// numbers that it accepts. They apply to the record that the request names, whichever function writes it,
// and are therefore a value of the request's context, as is the author of its writes. The function checks
// them with Table.Check or Table.Compare after it has locked the row, or as a part of the statement that
// writes it, so that no other write can come between.
package revision

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// ErrConflict reports a record that was written after the revision that the request was made on. Its
// details are a Conflict.
var ErrConflict = fault.New(fault.Precondition, "REVISION_CONFLICT", "the record was changed meanwhile; read it again")

// Conflict is the revision that a record has instead of the expected one.
type Conflict struct {
	Tenant    id.Tenant
	Revision  int64
	UpdatedAt time.Time
	By        id.Author // zero: the program itself, or unknown
}

// Table is a table of records with revisions: it has the columns revision and revised_by.
type Table struct {
	Name string
	Key  string // the column that identifies a record of a tenant; empty: id
	At   string // the expression for the time of the last revision; empty: updated_at
}

// context values
type (
	conditionKey struct{}
	authorKey    struct{}
	condition    struct {
		table string
		Condition
	}
)

// With returns a context in which writes of one record of the table have a condition.
func (t Table) With(ctx context.Context, c Condition) context.Context {
	return context.WithValue(ctx, conditionKey{}, condition{t.Name, c})
}

// Condition returns the condition of ctx for records of the table. Without one it accepts all revisions.
func (t Table) Condition(ctx context.Context) Condition {
	if c, ok := ctx.Value(conditionKey{}).(condition); ok && c.table == t.Name {
		return c.Condition
	}
	return Condition{}
}

// WithAuthor returns a context whose writes are those of an author.
func WithAuthor(ctx context.Context, by id.Author) context.Context {
	return context.WithValue(ctx, authorKey{}, by)
}

// AuthorOf returns the author of the writes in ctx; zero is the program itself.
func AuthorOf(ctx context.Context) id.Author {
	by, _ := ctx.Value(authorKey{}).(id.Author)
	return by
}

// By returns the value of revised_by for writes in ctx.
func By(ctx context.Context) any { return sqldb.Null(AuthorOf(ctx)) }

// Compare returns ErrConflict if ctx has a condition for the table that the present revision of a record
// does not meet. The caller has locked the record's row.
func (t Table) Compare(ctx context.Context, present Conflict) error {
	return t.Condition(ctx).Compare(present)
}

// Lock locks the row of the record with a key until the transaction ends.
func (t Table) Lock(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, key any) error {
	column := t.Key
	if column == "" {
		column = "id"
	}
	var present int64
	err := tx.QueryRow(ctx, `
		SELECT revision FROM `+t.Name+` WHERE tenant_id = $1 AND `+column+` = $2`+tx.ForUpdate()+`
		/* all tenants: a table of records, of one tenant */`, tenant, key).Scan(&present)
	if err != nil && !errors.Is(err, sqldb.ErrNoRows) {
		return fmt.Errorf("lock a %s: %w", t.Name, err)
	}
	return nil
}

// Check is Compare for the record with a key. It locks the record's row until the transaction ends. A
// record that does not exist is no conflict. Without a condition in ctx it does nothing.
func (t Table) Check(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, key any) error {
	c := t.Condition(ctx)
	if c.empty() {
		return nil
	}
	column, at := t.Key, t.At
	if column == "" {
		column = "id"
	}
	if at == "" {
		at = "updated_at"
	}
	present := Conflict{Tenant: tenant}
	err := tx.QueryRow(ctx, `
		SELECT revision, `+at+`, revised_by FROM `+t.Name+` WHERE tenant_id = $1 AND `+column+` = $2`+tx.ForUpdate()+`
		/* all tenants: a table of records, of one tenant */`, tenant, key).
		Scan(&present.Revision, sqldb.ToTime(&present.UpdatedAt), &present.By)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the revision of a %s: %w", t.Name, err)
	}
	return c.Compare(present)
}
