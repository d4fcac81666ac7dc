package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/template"
	"github.com/packetboat/packetboat/internal/mail/binding"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// The faults of a rebase.
var (
	ErrNotTemplate  = fault.New(fault.Invalid, "NOT_TEMPLATE_MODE", "this version was not made of a template")
	ErrTemplateGone = fault.New(fault.NotFound, "NOT_FOUND", "the template that the version was made of was deleted")
)

// Rebase is the binding of a version after merging it with the current schema of its template.
type Rebase struct {
	Version  Version
	Binding  json.RawMessage   // values that remain valid, and defaults for new ones
	Snapshot template.Snapshot // the current schema of the template
	Diff     binding.Diff
}

// PreviewRebase merges the binding of a version of an entry with the current schema of its
// template. A nil version is the current one. Nothing is written.
func PreviewRebase(ctx context.Context, db *sqldb.DB, tenant id.Tenant, entry id.LibraryEntry, version *int, now time.Time) (Rebase, error) {
	e, err := findEntry(ctx, db, tenant, entry, " ")
	if err != nil {
		return Rebase{}, err
	}
	if e.Version == 0 {
		return Rebase{}, content.ErrNoContent.Sayf("the entry has no saved version")
	}
	if version == nil {
		version = &e.Version
	}
	v, err := versionOf(ctx, db, tenant, entry, *version)
	if err != nil {
		return Rebase{}, err
	}
	origin := v.Content.Origin
	if origin == nil {
		return Rebase{}, ErrNotTemplate
	}
	var base template.Snapshot
	if err := json.Unmarshal(origin.Snapshot, &base); err != nil {
		return Rebase{}, fmt.Errorf("the template of version %d of library entry %s: %w", v.Number, entry, err)
	}
	theirs, err := template.ByRef(ctx, db, tenant, origin.Template.String())
	if errors.Is(err, template.ErrNotFound) {
		return Rebase{}, ErrTemplateGone
	}
	if err != nil {
		return Rebase{}, err
	}
	pool, err := theirs.Pool(ctx, db, origin.Binding)
	if err != nil {
		return Rebase{}, err
	}
	merged, diff := binding.Rebase(base.Schema, origin.Binding, theirs.Schema, pool)
	r := Rebase{Version: v, Binding: merged, Snapshot: theirs.Snapshot(now), Diff: diff}
	r.Diff.TemplateChanged = base.ContentHash != r.Snapshot.ContentHash
	return r, nil
}
