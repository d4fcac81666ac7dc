package contact

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Value is a value that contacts have.
type Value struct {
	Text   string
	LastAt time.Time // when a contact with it was last updated
}

// recentContacts is how many contacts Recent reads.
const recentContacts = 2000

// Recent returns the distinct values of a field of the contacts that were updated last, those of the
// contact updated last first. The field is a column of text, tags, email_domain, or custom_fields.
// and a key. It reports false if there is no such field.
func Recent(ctx context.Context, db *sqldb.DB, tenant id.Tenant, name string) ([]Value, bool, error) {
	column, key := name, ""
	if k, custom := strings.CutPrefix(name, "custom_fields."); custom {
		column, key = "custom_fields", k
	} else if _, ok := ParseText(name); !ok && name != "tags" && name != "email_domain" {
		return nil, false, nil
	}
	rows, err := db.Query(ctx, `
		SELECT `+column+`, updated_at FROM contact
		WHERE tenant_id = $1 AND anonymized_at IS NULL ORDER BY updated_at DESC, id DESC LIMIT $2`, tenant, recentContacts)
	list, seen := []Value{}, map[string]bool{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var stored sql.NullString
		var at int64
		if err := scan(&stored, &at); err != nil || !stored.Valid {
			return err
		}
		texts := []string{stored.String}
		if column == "custom_fields" || column == "tags" {
			var err error
			if texts, err = textsOf(stored.String, key); err != nil {
				return fmt.Errorf("%s of a contact: %w", column, err)
			}
		}
		for _, s := range texts {
			if !seen[s] {
				seen[s] = true
				list = append(list, Value{s, sqldb.Time(at)})
			}
		}
		return nil
	})
	if err != nil {
		return nil, true, fmt.Errorf("read recent values of contacts: %w", err)
	}
	return list, true, nil
}

// textsOf returns the texts in a JSON value: the elements of an array, or of a scalar. With a key it
// is the value of an object's field.
func textsOf(stored, key string) ([]string, error) {
	var v any
	if err := json.Unmarshal([]byte(stored), &v); err != nil {
		return nil, err
	}
	if key != "" {
		fields, _ := v.(map[string]any)
		v = fields[key]
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var texts []string
	for _, e := range list {
		switch e := e.(type) {
		case string:
			texts = append(texts, e)
		case bool, float64:
			b, err := json.Marshal(e)
			if err != nil {
				return nil, err
			}
			texts = append(texts, string(b))
		}
	}
	return texts, nil
}
