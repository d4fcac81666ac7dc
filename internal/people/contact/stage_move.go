package contact

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/journal"
	"github.com/packetboat/packetboat/internal/account/usage"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contactlog"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// moveTo changes the stage. If the category changes, it sets both scores to zero and
// returns those that were not zero.
func (c *Contact) moveTo(stage id.Stage, stages []Stage, now time.Time) []scoreReset {
	from := c.Stage
	c.Stage = stage
	if categoryOf(stages, from) == categoryOf(stages, stage) {
		return nil
	}
	changed := scoreResets(c.ProspectScore, c.CustomerScore)
	c.ProspectScore, c.CustomerScore, c.ScoreUpdatedAt = 0, 0, new(now)
	return changed
}

// scoreReset is the data of a score_changed entry about a reset. Package score writes the
// other entries.
type scoreReset struct {
	Score string  `json:"score"`
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Reset bool    `json:"reset"`
}

// scoreResets returns the resets of scores that are not zero.
func scoreResets(prospect, customer float64) []scoreReset {
	var list []scoreReset
	if prospect != 0 {
		list = append(list, scoreReset{Score: "prospect", From: prospect, Reset: true})
	}
	if customer != 0 {
		list = append(list, scoreReset{Score: "customer", From: customer, Reset: true})
	}
	return list
}

// stageUsage are the details of ErrStageInUse.
type stageUsage struct {
	Usage struct {
		Contacts    int            `json:"contacts"`
		Sequences   []usage.Holder `json:"sequences"`
		Automations []usage.Holder `json:"automations"`
	} `json:"usage"`
}

// DeleteStage deletes a stage and moves its contacts to the replacement. It fails for the
// default stage, and for a stage that has contacts, or that sequences or automations refer to, if there
// is no replacement (ErrStageInUse). References are not replaced.
func DeleteStage(ctx context.Context, db *sqldb.DB, tenant id.Tenant, stage, replacement id.Stage, who usage.Finder, now time.Time) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		stages, err := lockStages(ctx, tx, tenant)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(stages, func(s Stage) bool { return s.ID == stage })
		if i < 0 {
			return ErrNoStage
		}
		if err := StageRevisions.Check(ctx, tx, tenant, stage); err != nil {
			return err
		}
		if !replacement.IsZero() && (replacement == stage || !slices.ContainsFunc(stages, func(s Stage) bool { return s.ID == replacement })) {
			return ErrInvalidStage.Sayf("replacement_stage_id is not another stage")
		}
		holders, err := who.Find(ctx, tx, tenant, usage.Subject{Kind: usage.Stage, ID: stage.String(), Key: stage.String()})
		if err != nil {
			return err
		}
		holders = holders.With("sequences", "automations")
		var used stageUsage
		used.Usage.Sequences, used.Usage.Automations = holders["sequences"], holders["automations"]
		err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM contact WHERE tenant_id = $1 AND stage_id = $2`, tenant, stage).Scan(&used.Usage.Contacts)
		if err != nil {
			return err
		}
		if stages[i].Default {
			return ErrStageInUse.With(used).Sayf("the default stage cannot be deleted; make another one the default first")
		}
		if replacement.IsZero() && (used.Usage.Contacts > 0 || holders.Any()) {
			return ErrStageInUse.With(used)
		}
		if used.Usage.Contacts > 0 {
			if err := moveContacts(ctx, tx, tenant, stage, replacement, stages, micros(now)); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `DELETE FROM contact_stage WHERE tenant_id = $1 AND id = $2`, tenant, stage)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete a stage: %w", err)
	}
	return nil
}

// moveContacts moves the contacts of one stage to another.
func moveContacts(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, from, to id.Stage, stages []Stage, now time.Time) error {
	type member struct {
		contact            id.Contact
		prospect, customer float64
	}
	rows, err := tx.Query(ctx, `SELECT id, prospect_score, customer_score FROM contact WHERE tenant_id = $1 AND stage_id = $2`, tenant, from)
	members, err := sqldb.Collect(rows, err, func(row func(...any) error) (m member, err error) {
		err = row(&m.contact, &m.prospect, &m.customer)
		return m, err
	})
	if err != nil {
		return err
	}
	reset := ""
	if categoryOf(stages, from) != categoryOf(stages, to) {
		reset = ", prospect_score = 0, customer_score = 0, score_updated_at = $4"
	}
	for page := range slices.Chunk(members, 500) {
		ids := make([]id.Contact, 0, len(page))
		var entries []journal.Entry
		for _, m := range page {
			ids = append(ids, m.contact)
			log := func(t journal.Type, data any) {
				entries = append(entries, journal.Entry{Tenant: tenant, Type: t, Contact: m.contact, At: now, Data: data})
			}
			log(journal.StageChanged, map[string]any{"from": from, "to": to})
			if reset != "" {
				for _, r := range scoreResets(m.prospect, m.customer) {
					log(journal.ScoreChanged, r)
				}
			}
			log(journal.ContactUpdated, map[string]any{"fields": []string{"stage_id"}})
		}
		_, err := tx.Exec(ctx, `
			UPDATE contact SET stage_id = $3, updated_at = $4, revision = revision + 1, revised_by = $6`+reset+`
			WHERE tenant_id = $1 AND stage_id = $2 AND id`+tx.In(5), tenant, from, to, sqldb.Micros(now), sqldb.List(tx, ids), revision.By(ctx))
		if err != nil {
			return err
		}
		if err := contactlog.Append(ctx, tx, tenant, ids); err != nil {
			return err
		}
		if err := journal.Append(ctx, tx, entries...); err != nil {
			return err
		}
	}
	return nil
}
