package app

import (
	"context"
	"fmt"

	"github.com/packetboat/packetboat/internal/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/template"
	"github.com/packetboat/packetboat/internal/template/starter"
)

// templates creates the starter templates and blocks. A program built without the MJML compiler has
// none.
func (d demo) templates(ctx context.Context, tx *sqldb.DB, t id.Tenant) error {
	if !d.mjml.Available() {
		return nil
	}
	for _, b := range starter.Blocks() {
		if _, _, err := template.CreateBlock(ctx, tx, d.mjml, t, b.Change(), d.now); err != nil {
			return fmt.Errorf("block %s: %w", b.Slug, err)
		}
	}
	for _, s := range starter.All() {
		if _, _, err := template.Create(ctx, tx, d.mjml, t, s.Change(), d.now); err != nil {
			return fmt.Errorf("template %s: %w", s.Slug, err)
		}
	}
	return nil
}
