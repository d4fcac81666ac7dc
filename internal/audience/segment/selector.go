package segment

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// SelectorInput is a choice of contacts as a request has it. It survives encoding to JSON, so that
// a job can store it.
type SelectorInput struct {
	Status     []string        `json:"status,omitempty"` // empty: all but suppressed
	Search     string          `json:"search,omitempty"`
	Filters    json.RawMessage `json:"filters,omitempty"`    // array; empty or null: none
	Definition json.RawMessage `json:"definition,omitempty"` // object; empty or null: none
}

// Choice is a valid choice of contacts in canonical form. A tree is nil if the request has no such
// part.
type Choice struct {
	Statuses   []contact.Status
	Search     string
	Filters    *rule.Tree
	Definition *rule.Tree

	schema rule.Schema
}

// Choose validates a choice of contacts against the tenant's schema. Errors are
// contact.ErrInvalidStatus, contact.ErrInvalidFilters, ErrInvalidDefinition, and INVALID_INPUT for
// the search.
func Choose(ctx context.Context, db *sqldb.DB, tenant id.Tenant, in SelectorInput) (Choice, error) {
	return choose(ctx, db, tenant, in, rule.ParseDefinition)
}

func choose(ctx context.Context, db *sqldb.DB, tenant id.Tenant, in SelectorInput, parse func([]byte, rule.Schema) (rule.Tree, error)) (Choice, error) {
	c := Choice{Search: in.Search}
	err := contact.CheckSearch(in.Search)
	if err != nil {
		return Choice{}, err
	}
	if c.Statuses, err = contact.ParseStatuses(in.Status); err != nil {
		return Choice{}, err
	}
	filtered, defined := hasValue(in.Filters), hasValue(in.Definition)
	if !filtered && !defined {
		return c, nil
	}
	if c.schema, err = Schema(ctx, db, tenant); err != nil {
		return Choice{}, err
	}
	if filtered {
		tree, err := rule.ParseFilters(in.Filters, c.schema)
		if err != nil {
			return Choice{}, err
		}
		c.Filters = &tree
	}
	if defined {
		tree, err := parse(in.Definition, c.schema)
		if err != nil {
			return Choice{}, err
		}
		c.Definition = &tree
	}
	return c, nil
}

// hasValue reports whether an optional JSON value is present and not null.
func hasValue(raw json.RawMessage) bool {
	text := strings.TrimSpace(string(raw))
	return text != "" && text != "null"
}

// Selector renders the choice for package contact, evaluated at a time.
func (c Choice) Selector(db *sqldb.DB, now time.Time) (contact.Selector, error) {
	sel := contact.Selector{Statuses: c.Statuses, Search: c.Search}
	env := rule.Env{Now: now, Schema: c.schema}
	for _, tree := range []*rule.Tree{c.Filters, c.Definition} {
		if tree == nil || len(tree.Root.Conditions) == 0 || restrictStatuses(&sel, tree.Root) {
			continue
		}
		w, err := tree.Condition(db, env)
		if err != nil {
			return contact.Selector{}, err
		}
		sel.Where = append(sel.Where, w)
	}
	return sel, nil
}

// Count returns the number of the chosen contacts, evaluated at a time.
func (c Choice) Count(ctx context.Context, db *sqldb.DB, tenant id.Tenant, now time.Time) (n int, err error) {
	sel, err := c.Selector(db, now)
	if err != nil {
		return 0, err
	}
	if len(sel.Where) == 0 || c.Search != "" {
		return contact.Count(ctx, db, tenant, sel)
	}
	err = db.Evaluate(ctx, tenant.String(), func(ctx context.Context, db *sqldb.DB) error {
		found, ok, err := countInMemory(ctx, db, tenant, c.tree(), rule.Env{Now: now, Schema: c.schema})
		if n = found.All; !ok && err == nil {
			n, err = contact.Count(ctx, db, tenant, sel)
		}
		return err
	})
	return n, err
}

// tree returns the choice as one rule, without the search.
func (c Choice) tree() rule.Tree {
	status := rule.Field{Name: "global_status", Operator: rule.NotEquals, Value: rule.Value{Texts: []string{string(contact.Suppressed)}}}
	if len(c.Statuses) > 0 {
		status.Operator, status.Value.Texts = rule.In, nil
		for _, s := range c.Statuses {
			status.Value.Texts = append(status.Value.Texts, string(s))
		}
	}
	t := all(status)
	for _, part := range []*rule.Tree{c.Filters, c.Definition} {
		if part != nil {
			t.Root.Conditions = append(t.Root.Conditions, part.Root)
		}
	}
	return t
}

// restrictStatuses restricts a selector as a rule does that is about statuses alone, so that contacts are counted by
// their stored numbers. It returns false for other rules, of which it may apply a part.
func restrictStatuses(sel *contact.Selector, g rule.Group) bool {
	if g.Negate || g.Logic != rule.And && len(g.Conditions) > 1 {
		return false
	}
	for _, c := range g.Conditions {
		f, ok := c.(rule.Field)
		if !ok || f.Name != "global_status" || f.Operator != rule.Equals && f.Operator != rule.In {
			return false
		}
		to := make([]contact.Status, len(f.Value.Texts))
		for i, s := range f.Value.Texts {
			to[i] = contact.Status(s)
		}
		if !sel.Restrict(to) {
			return false
		}
	}
	return true
}

// Select is Choose followed by Selector.
func Select(ctx context.Context, db *sqldb.DB, tenant id.Tenant, in SelectorInput, now time.Time) (contact.Selector, error) {
	c, err := Choose(ctx, db, tenant, in)
	if err != nil {
		return contact.Selector{}, err
	}
	return c.Selector(db, now)
}

// SelectQueued is Select for the stored choice of a job, which an earlier version of the program
// may have accepted under other rules.
func SelectQueued(ctx context.Context, db *sqldb.DB, tenant id.Tenant, in SelectorInput, now time.Time) (contact.Selector, error) {
	c, err := choose(ctx, db, tenant, in, rule.Reparse)
	if err != nil {
		return contact.Selector{}, err
	}
	return c.Selector(db, now)
}

// Below returns a fault of a choice with its paths prefixed by path, for a request body in which
// the choice is a field.
func Below(path string, err error) error {
	f, ok := fault.As(err)
	if !ok || f.Details == nil {
		return err
	}
	var d struct {
		Path string `json:"path,omitempty"`
		fault.Fields
	}
	raw, err := json.Marshal(f.Details)
	if err != nil || json.Unmarshal(raw, &d) != nil || len(d.Fields.Fields) == 0 {
		return f
	}
	if d.Path != "" {
		d.Path = path + "." + d.Path
	}
	for i, field := range d.Fields.Fields {
		d.Fields.Fields[i].Path = path + "." + field.Path
	}
	return d.Fields.As(f.With(d))
}

// Uses reports whether a stored rule refers to a list, a segment or a custom field. A rule that
// cannot be parsed refers to nothing.
func Uses(stored json.RawMessage, schema rule.Schema, s usage.Subject) bool {
	if !hasValue(stored) {
		return false
	}
	tree, err := rule.Decode(stored, schema)
	return err == nil && slices.ContainsFunc(tree.References(), func(r rule.Reference) bool { return r.Kind == s.Kind && r.Name == s.Key })
}
