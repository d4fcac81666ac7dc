package sqldb_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestEveryTableOfSQLiteIsStrict(t *testing.T) {
	t.Parallel()
	db := dbtest.SQLite(t)
	rows, err := db.Query(t.Context(), `SELECT name FROM pragma_table_list
		WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> 'schema_migration'`)
	loose, err := sqldb.Collect(rows, err, func(scan func(...any) error) (name string, err error) {
		err = scan(&name)
		return name, err
	})
	if err != nil || len(loose) > 0 {
		t.Errorf("tables that are not strict: %v, %v", loose, err)
	}
	var count int
	if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM pragma_table_list WHERE schema = 'main' AND strict = 1`).Scan(&count); err != nil || count < 50 {
		t.Errorf("%d strict tables, %v", count, err)
	}
}

func TestAColumnAcceptsOnlyValuesOfItsType(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		insert := `INSERT INTO job_file (tenant_id, id, name, media_type, size, created_at) VALUES ($1, $2, 'x', 'y', $3, 0)`
		file := id.New[id.JobFile]()
		for name, args := range map[string][]any{
			"a text for an id":     {1, "file", 0},
			"a text for a tenant":  {"acme", file, 0},
			"a text for a number":  {1, file, "large"},
			"an id for a tenant":   {file, file, 0},
			"a number for an id":   {1, 7, 0},
			"no id, which must be": {1, nil, 0},
		} {
			if _, err := db.Exec(t.Context(), insert, args...); err == nil {
				t.Errorf("%s was accepted", name)
			}
		}
		if _, err := db.Exec(t.Context(), insert, 1, file, 0); err != nil {
			t.Fatal(err)
		}
		var got id.JobFile
		var job id.Job
		var size int
		query := `SELECT id, job_id, size FROM job_file WHERE tenant_id = $1 AND id = $2`
		if err := db.QueryRow(t.Context(), query, 1, file).Scan(&got, &job, &size); err != nil || got != file || !job.IsZero() || size != 0 {
			t.Errorf("read %s, %s, %d, %v", got, job, size, err)
		}
		if db.Dialect() == sqldb.SQLite {
			var kind string
			if err := db.QueryRow(t.Context(), `SELECT typeof(id) || length(id) FROM job_file WHERE tenant_id = 1`).Scan(&kind); err != nil || !strings.EqualFold(kind, "blob16") {
				t.Errorf("an id is stored as %s, %v; want a BLOB of 16 bytes", kind, err)
			}
		}
	})
}
