package sqldb

import (
	"bytes"
	"io"
	"io/fs"
	"regexp"
	"strings"
)

// SQLite stores any value in any column unless a table is STRICT, and has few types. The migrations
// use PostgreSQL's types. For SQLite, each table is declared STRICT with the types in which SQLite
// stores such values (https://sqlite.org/stricttables.html).

var (
	createTable = regexp.MustCompile(`(?s)CREATE TABLE \w+ \(\n.*?\n\);`)
	columnType  = regexp.MustCompile(`(?m)^(\s*\w+\s+)(UUID|SMALLINT|INTEGER|BIGINT|BOOLEAN|JSONB|BYTEA|DOUBLE PRECISION)\b`)
	addedColumn = regexp.MustCompile(`(?m)^(ALTER TABLE \w+ ADD COLUMN \w+ )(UUID|SMALLINT|INTEGER|BIGINT|BOOLEAN|JSONB|BYTEA|DOUBLE PRECISION)\b`)
	sqliteTypes = map[string]string{
		"UUID": "BLOB", "BYTEA": "BLOB", "JSONB": "TEXT", "DOUBLE PRECISION": "REAL",
		"SMALLINT": "INTEGER", "INTEGER": "INTEGER", "BIGINT": "INTEGER", "BOOLEAN": "INTEGER",
	}
)

// withoutRowID is the comment of tables whose rows SQLite stores in the primary key's b-tree
// (https://sqlite.org/withoutrowid.html): narrow ones that are looked up by it.
const withoutRowID = "-- WITHOUT ROWID"

// strictTables returns the text of a migration for SQLite.
func strictTables(text string) string {
	text = addedColumn.ReplaceAllStringFunc(text, func(column string) string {
		m := addedColumn.FindStringSubmatch(column)
		return m[1] + sqliteTypes[m[2]]
	})
	return createTable.ReplaceAllStringFunc(text, func(table string) string {
		table = columnType.ReplaceAllStringFunc(table, func(column string) string {
			m := columnType.FindStringSubmatch(column)
			return m[1] + sqliteTypes[m[2]]
		})
		end := " STRICT;"
		if strings.Contains(table, withoutRowID) {
			end = " STRICT, WITHOUT ROWID;"
		}
		return strings.TrimSuffix(table, ";") + end
	})
}

// strictFS is a directory of migrations for SQLite.
type strictFS struct{ fs.FS }

// Open opens a file. The text of a migration is rewritten by strictTables.
func (f strictFS) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return file, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	return strictFile{file, bytes.NewReader([]byte(strictTables(string(text))))}, nil
}

// strictFile is a file whose text was rewritten.
type strictFile struct {
	fs.File
	text *bytes.Reader
}

// Read reads the rewritten text.
func (f strictFile) Read(p []byte) (int, error) { return f.text.Read(p) }
