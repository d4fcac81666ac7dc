package contact

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/slug"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// Stage is a step of a tenant's pipeline.
type Stage struct {
	ID          id.Stage
	Name        string
	Slug        string
	Category    StageCategory
	Color       *string
	Description *string
	SortOrder   int
	Default     bool // exactly one of a tenant's stages
	CreatedAt   time.Time
	Revision    int64
}

// StageRevisions is the table of stages, for conditions on their revisions.
var StageRevisions = revision.Table{Name: "contact_stage", At: "COALESCE(revised_at, created_at)"}

// StageCategory determines which score of a contact in the stage changes.
type StageCategory string

// The categories.
const (
	Prospect     StageCategory = "prospect"
	Customer     StageCategory = "customer"
	Churned      StageCategory = "churned"
	Disqualified StageCategory = "disqualified"
	Partner      StageCategory = "partner"
)

// StageCategories lists them all.
func StageCategories() []StageCategory {
	return []StageCategory{Prospect, Customer, Churned, Disqualified, Partner}
}

// The faults of stages.
var (
	ErrNoStage    = fault.New(fault.NotFound, "NOT_FOUND", "there is no such stage")
	ErrStageInUse = fault.New(fault.Conflict, "IN_USE", "the stage is still in use")
)

const (
	maxStages      = 50
	maxStageName   = 200
	maxDescription = 2000
)

func defaultStage(stages []Stage) id.Stage {
	for _, s := range stages {
		if s.Default {
			return s.ID
		}
	}
	return id.Stage{}
}

func categoryOf(stages []Stage, stage id.Stage) StageCategory {
	for _, s := range stages {
		if s.ID == stage {
			return s.Category
		}
	}
	return ""
}

// Stages returns the tenant's stages in display order.
func Stages(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]Stage, error) {
	b := db.Batch()
	list := queueStages(b, tenant, "")
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("list stages: %w", err)
	}
	return *list, nil
}

// queueShareLockStages reads the stages, as part of a batch of tx, with a shared lock, so
// that none of them is deleted while the transaction moves contacts into them. Other
// transactions may hold the same lock. The batch fills the list that it returns.
func queueShareLockStages(b *sqldb.Batch, tx *sqldb.DB, tenant id.Tenant) *[]Stage {
	if tx.Dialect() == sqldb.Postgres {
		return queueStages(b, tenant, " FOR KEY SHARE")
	}
	return queueStages(b, tenant, "")
}

func queueStages(b *sqldb.Batch, tenant id.Tenant, lock string) *[]Stage {
	list := &[]Stage{}
	b.Queue(`
		SELECT id, name, slug, category, color, description, sort_order, is_default, created_at, revision
		FROM contact_stage WHERE tenant_id = $1 ORDER BY sort_order, created_at, id`+lock, func(row func(...any) error) error {
		var s Stage
		var created int64
		err := row(&s.ID, &s.Name, &s.Slug, &s.Category, &s.Color, &s.Description, &s.SortOrder, &s.Default, &created, &s.Revision)
		s.CreatedAt = sqldb.Time(created)
		*list = append(*list, s)
		return err
	}, tenant)
	return list
}

// StageByID returns one stage.
func StageByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, stage id.Stage) (Stage, error) {
	list, err := Stages(ctx, db, tenant)
	if err != nil {
		return Stage{}, err
	}
	for _, s := range list {
		if s.ID == stage {
			return s, nil
		}
	}
	return Stage{}, ErrNoStage
}

// StageChange holds the changes of a request; nil leaves a part unchanged, and an empty
// Color or Description clears it.
type StageChange struct {
	Name        *string
	Category    *StageCategory
	Color       *string
	Description *string
	SortOrder   *int
	Default     *bool
}

var colorPattern = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// CheckNew validates the change as that of CreateStage.
func (ch StageChange) CheckNew() error { return ch.apply(&Stage{}) }

// Check validates the change independently of the stage.
func (ch StageChange) Check() error { return ch.apply(&Stage{Name: "-", Category: Prospect}) }

// apply validates the change and applies it to s.
func (ch StageChange) apply(s *Stage) error {
	var p fault.Problems
	if ch.Name != nil {
		s.Name = strings.TrimSpace(norm.NFC.String(*ch.Name))
	}
	if n := utf8.RuneCountInString(s.Name); n == 0 || n > maxStageName || strings.ContainsRune(s.Name, 0) {
		p.Add("name", "required, 1 to 200 characters")
	}
	if ch.Category != nil {
		s.Category = *ch.Category
	}
	if !slices.Contains(StageCategories(), s.Category) {
		p.Add("category", "must be one of prospect, customer, churned, disqualified, partner")
	}
	if ch.Color != nil {
		s.Color = nil
		if *ch.Color != "" {
			s.Color = new(strings.ToLower(*ch.Color))
			if !colorPattern.MatchString(*s.Color) {
				p.Add("color", "must be a colour as #rrggbb")
			}
		}
	}
	if ch.Description != nil {
		s.Description = nil
		if d := strings.TrimSpace(norm.NFC.String(*ch.Description)); d != "" {
			s.Description = &d
			if utf8.RuneCountInString(d) > maxDescription || strings.ContainsRune(d, 0) {
				p.Add("description", fmt.Sprintf("at most %d characters", maxDescription))
			}
		}
	}
	if ch.SortOrder != nil {
		s.SortOrder = *ch.SortOrder
		if s.SortOrder < 0 || s.SortOrder > 1_000_000 {
			p.Add("sort_order", "must be between 0 and 1000000")
		}
	}
	if ch.Default != nil && !*ch.Default && s.Default {
		p.Add("is_default", "make another stage the default instead")
	}
	return p.Err()
}

// CreateStage creates a stage. A tenant's first stage is always the default.
func CreateStage(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ch StageChange, now time.Time) (Stage, error) {
	s := Stage{ID: id.New[id.Stage](), CreatedAt: micros(now), Revision: 1}
	if err := ch.apply(&s); err != nil {
		return Stage{}, err
	}
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		for { // until no other transaction has taken the slug meanwhile
			if inserted, err := s.insert(ctx, tx, tenant, ch); inserted || err != nil {
				return err
			}
		}
	})
	if err != nil {
		return Stage{}, fmt.Errorf("create a stage: %w", err)
	}
	return s, nil
}

// insert adds a new stage after the others. It reports false if another transaction took
// its slug.
func (s *Stage) insert(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, ch StageChange) (bool, error) {
	list, err := lockStages(ctx, tx, tenant)
	if err != nil {
		return false, err
	}
	if len(list) >= maxStages {
		return false, ErrLimit.Sayf("a tenant may have at most %d stages", maxStages)
	}
	if ch.SortOrder == nil && len(list) > 0 {
		s.SortOrder = list[len(list)-1].SortOrder + 1
	}
	s.Default = len(list) == 0 || ch.Default != nil && *ch.Default
	if s.Default {
		if err := clearDefaultStage(ctx, tx, tenant, s.CreatedAt); err != nil {
			return false, err
		}
	}
	s.Slug, err = slug.Free(slug.Derive(s.Name, '-'), '-', func(try string) (bool, error) {
		return slices.ContainsFunc(list, func(have Stage) bool { return have.Slug == try }), nil
	})
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(ctx, `
		INSERT INTO contact_stage (tenant_id, id, name, slug, category, color, description, sort_order, is_default, created_at, revised_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (tenant_id, slug) DO NOTHING`,
		tenant, s.ID, s.Name, s.Slug, s.Category, s.Color, s.Description, s.SortOrder, s.Default, sqldb.Micros(s.CreatedAt), revision.By(ctx))
	return n == 1, err
}

// LockStages takes the locks of a change of stages: of all of a tenant's, in the order of their ids.
func LockStages(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) error {
	_, err := lockStages(ctx, tx, tenant)
	return err
}

// lockStages returns the tenant's stages and locks them until the transaction ends, since
// exactly one is the default and their number is limited.
func lockStages(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) ([]Stage, error) {
	rows, err := tx.Query(ctx, `SELECT id FROM contact_stage WHERE tenant_id = $1 ORDER BY id`+tx.ForUpdate(), tenant)
	if _, err := sqldb.Collect(rows, err, func(row func(...any) error) (s id.Stage, err error) { return s, row(&s) }); err != nil {
		return nil, fmt.Errorf("lock stages: %w", err)
	}
	return Stages(ctx, tx, tenant)
}

// CreateDefaultStages creates the stages of a new tenant. The first is the default.
func CreateDefaultStages(ctx context.Context, tx *sqldb.DB, t tenant.Tenant, now time.Time) error {
	for _, first := range []StageChange{
		{Name: new("Lead"), Category: new(Prospect)},
		{Name: new("Customer"), Category: new(Customer)},
		{Name: new("Churned"), Category: new(Churned)},
		{Name: new("Disqualified"), Category: new(Disqualified)},
		{Name: new("Partner"), Category: new(Partner)},
	} {
		if _, err := CreateStage(ctx, tx, t.ID, first, now); err != nil {
			return err
		}
	}
	return nil
}

func clearDefaultStage(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, now time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE contact_stage SET is_default = FALSE, revision = revision + 1, revised_at = $2, revised_by = $3
		WHERE tenant_id = $1 AND is_default`, tenant, sqldb.Micros(now), revision.By(ctx))
	return err
}

// UpdateStage changes a stage, except its slug. Another category determines which score of
// its contacts changes from now on; unlike a move to another stage, it does not reset their
// scores.
func UpdateStage(ctx context.Context, db *sqldb.DB, tenant id.Tenant, stage id.Stage, ch StageChange, now time.Time) (Stage, error) {
	var s Stage
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		list, err := lockStages(ctx, tx, tenant)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(have Stage) bool { return have.ID == stage })
		if i < 0 {
			return ErrNoStage
		}
		if err := StageRevisions.Check(ctx, tx, tenant, stage); err != nil {
			return err
		}
		s = list[i]
		if err := ch.apply(&s); err != nil {
			return err
		}
		if ch.Default != nil && *ch.Default && !s.Default {
			if err := clearDefaultStage(ctx, tx, tenant, now); err != nil {
				return err
			}
			s.Default = true
		}
		_, err = tx.Exec(ctx, `
			UPDATE contact_stage SET name = $3, category = $4, color = $5, description = $6, sort_order = $7, is_default = $8,
				revision = revision + 1, revised_at = $9, revised_by = $10
			WHERE tenant_id = $1 AND id = $2`,
			tenant, stage, s.Name, s.Category, s.Color, s.Description, s.SortOrder, s.Default, sqldb.Micros(now), revision.By(ctx))
		s.Revision++
		return err
	})
	if err != nil {
		return Stage{}, fmt.Errorf("update a stage: %w", err)
	}
	return s, nil
}

// OrderStages sets the order of the stages; ids must contain each of them once.
func OrderStages(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Stage, now time.Time) ([]Stage, error) {
	var list []Stage
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		have, err := lockStages(ctx, tx, tenant)
		if err != nil {
			return err
		}
		var p fault.Problems
		var named []id.Stage
		t := tx.Table("id UUID", "sort_order BIGINT")
		for i, s := range ids {
			s, _ = id.Parse[id.Stage](s.String())
			if slices.Contains(named, s) || !slices.ContainsFunc(have, func(h Stage) bool { return h.ID == s }) {
				p.AddElement("ids", "must be the id of a stage, named once")
				continue
			}
			named = append(named, s)
			t.Add(s, i)
		}
		if t.Len() != len(have) {
			p.Add("ids", "must name every stage")
		}
		if err := p.Err(); err != nil {
			return err
		}
		if len(ids) > 0 {
			_, err = tx.Exec(ctx, `
				UPDATE contact_stage SET sort_order = v.sort_order, revision = revision + 1, revised_at = $2, revised_by = `+tx.Param(3, "UUID")+` FROM `+t.As("v", 4)+`
				WHERE contact_stage.tenant_id = $1 AND contact_stage.id = v.id AND contact_stage.sort_order <> v.sort_order`,
				t.Args(tenant, sqldb.Micros(now), revision.By(ctx))...)
			if err != nil {
				return err
			}
		}
		list, err = Stages(ctx, tx, tenant)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("order stages: %w", err)
	}
	return list, nil
}
