package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// maxMemories is how many headers are remembered of a tenant, those that were imported last.
const maxMemories = 100

// memory is what the caller of an import said about a file, as it is kept for the next one with the same header. It has
// nothing of the file's rows.
type memory struct {
	Columns map[string]string `json:"columns,omitempty"` // by their keys of memoryKeys; an empty target leaves the column out
	Forms   map[string]form   `json:"forms,omitempty"`   // likewise
	Reading reading           `json:"reading,omitzero"`
}

// memoryKeys returns under what the columns of a file are remembered, whatever their order: their names, with a number for
// those that have one name.
func memoryKeys(columns []column) []string {
	keys, times := namesOf(columns), map[string]int{}
	for i, c := range columns {
		if c.key() != c.Name {
			times[c.Name]++
			keys[i] = fmt.Sprintf("%s\n%d", c.Name, times[c.Name])
		}
	}
	return keys
}

// remembered is where a column went before.
type remembered struct {
	target string
	known  bool
}

// of returns where each of the columns went before.
func (m memory) of(columns []column) []remembered {
	list := make([]remembered, len(columns))
	for i, key := range memoryKeys(columns) {
		if list[i].target, list[i].known = m.Columns[key]; !list[i].known {
			list[i].target, list[i].known = m.Columns[columns[i].Name] // by an earlier version
		}
	}
	return list
}

// headerKey returns a hash of the names of a file's columns, whatever their order; nil if the header cannot be read. The
// errors file of an import has the key of the file that was imported.
// They are read as the file is recognised, since what the caller says about the file may be what is remembered.
func headerKey(open func(at int64) io.Reader, seen census) ([]byte, error) {
	head, err := readHeader(open, seen, reading{})
	if _, refused := fault.As(err); refused {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(head.names[:ownColumns(head.names)])), "\n")))
	return hash[:], nil
}

// recall returns what is remembered of a header, if that is wanted.
func (o Options) recall(ctx context.Context, db *sqldb.DB, tenant id.Tenant, header []byte) (m memory, err error) {
	if !o.Remembered {
		return memory{}, nil
	}
	var text string
	err = db.QueryRow(ctx, `SELECT options FROM import_mapping WHERE tenant_id = $1 AND header = $2`, tenant, header).Scan(&text)
	if errors.Is(err, sqldb.ErrNoRows) {
		return memory{}, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &m)
	}
	if err != nil {
		return memory{}, fmt.Errorf("recall how a file was imported: %w", err)
	}
	return m, nil
}

// memorize keeps what the caller of an import said, or that it said nothing, under the header of the file.
func (in importParams) memorize(ctx context.Context, tx *sqldb.DB, tenant id.Tenant, now time.Time) error {
	if in.Header == nil {
		return nil
	}
	m := memory{Columns: map[string]string{}, Forms: map[string]form{}, Reading: in.Given}
	keys := memoryKeys(in.Columns)
	for i, c := range in.Columns {
		if c.By == byMapping || c.By == byMemory {
			m.Columns[keys[i]] = c.Target
		}
		if c.Form != "" {
			m.Forms[keys[i]] = c.Form
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO import_mapping (tenant_id, header, used_at, options) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant_id, header) DO UPDATE SET used_at = excluded.used_at, options = excluded.options`,
		tenant, in.Header, sqldb.Micros(now), string(text))
	if err == nil {
		_, err = tx.Exec(ctx, `
			DELETE FROM import_mapping WHERE tenant_id = $1 AND header NOT IN (
				SELECT header FROM import_mapping WHERE tenant_id = $1 ORDER BY used_at DESC, header LIMIT $2)
			/* reads the tenant: a hundred headers */`, tenant, maxMemories)
	}
	if err != nil {
		return fmt.Errorf("remember how a file was imported: %w", err)
	}
	return nil
}

// usable reports whether a column may go to a target again: it still exists, and the mapping gives it to no other column.
func (t targets) usable(target string, mapping map[string]string) bool {
	return t.refusal(target) == "" && (target == "" || target == tagsTarget || !slices.Contains(slices.Collect(maps.Values(mapping)), target))
}

// recallForms adds the forms that columns had before, to those that may still have them.
func (t targets) recallForms(columns []column, before memory) {
	keys := memoryKeys(columns)
	for i, c := range columns {
		if was := before.Forms[keys[i]]; was != "" && kindOf(c.Target, t.fields).parseForm(string(was)) == was {
			columns[i].Form = was
		}
	}
}
