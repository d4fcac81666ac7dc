package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"

	sqlite "github.com/ncruces/go-sqlite3/driver"
)

// An evaluation has a connection for itself, and database/sql prepares each statement on it anew, which
// took an eighth of a search. The connections of keepingConnector keep their prepared statements.

// Limits of the statements that a connection keeps. A prepared one has about ten times the memory of
// its text.
const (
	maxKept      = 50
	maxKeptBytes = 16 << 10 // of the text of each
)

// keepingConnector connects to an SQLite database.
type keepingConnector struct{ driver.Connector }

// openKeeping opens the database of a URL with such connections.
func openKeeping(dsn string) (*sql.DB, error) {
	c, err := (&sqlite.SQLite{}).OpenConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(keepingConnector{c}), nil
}

// Connect returns a new connection with the settings and functions of all.
func (k keepingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := conn.(sqlite.Conn)
	if err := configureConn(c.Raw()); err != nil {
		_ = c.Close()
		return nil, err
	}
	return &keepingConn{c, map[string]*keptStmt{}}, nil
}

// keepingConn is a connection that keeps prepared statements.
type keepingConn struct {
	sqlite.Conn
	kept map[string]*keptStmt
}

// PrepareContext returns a kept statement that nobody uses, or a new one.
func (c *keepingConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	s := c.kept[text]
	if s != nil && !s.used {
		s.used = true
		return s, nil
	}
	prepared, err := c.Conn.PrepareContext(ctx, text)
	if err != nil || s != nil || len(text) > maxKeptBytes {
		return prepared, err
	}
	if len(c.kept) >= maxKept {
		for other, k := range c.kept {
			if !k.used {
				delete(c.kept, other)
				_ = k.sqliteStmt.Close()
			}
		}
	}
	s = &keptStmt{prepared.(sqliteStmt), true}
	c.kept[text] = s
	return s, nil
}

// Close closes the kept statements too.
func (c *keepingConn) Close() error {
	for _, s := range c.kept {
		_ = s.sqliteStmt.Close()
	}
	return c.Conn.Close()
}

// sqliteStmt is what the driver's statements implement.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
	driver.NamedValueChecker
}

// keptStmt is a statement that its connection keeps.
type keptStmt struct {
	sqliteStmt
	used bool
}

// Close lets the statement be used again.
func (s *keptStmt) Close() error {
	s.used = false
	return nil
}
