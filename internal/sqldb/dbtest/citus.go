package dbtest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"

	"packetboat/internal/id"
	"packetboat/internal/sqldb"
)

// CitusWorkers names the environment variable that makes the databases of tests
// distributed ones: the workers of a Citus cluster as host:port, with commas between
// them. The server of Variable is then its coordinator.
const CitusWorkers = "PACKETBOAT_TEST_CITUS_WORKERS"

// citus is a cluster.
type citus struct {
	t     testing.TB
	nodes []string // addresses, that of the coordinator first
}

// distributedAddress returns the address of an empty database whose tables are
// distributed. It lives as long as the test.
func distributedAddress(t testing.TB, server, workers string) string {
	t.Helper()
	c := citus{t, []string{server}}
	for w := range strings.SplitSeq(workers, ",") {
		u, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		u.Host = w
		c.nodes = append(c.nodes, u.String())
	}
	texts, err := migrationTexts()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(sqldb.CitusScript + workers + texts))
	source := "citus_" + hex.EncodeToString(sum[:])[:24]
	templateMu.Lock()
	if c.one(server, `SELECT COUNT(*) FROM pg_database WHERE datname = '`+source+`'`) == 0 {
		c.make(source)
	}
	templateMu.Unlock()
	name := "t_" + strings.ReplaceAll(id.NewText(), "-", "")
	t.Cleanup(func() { c.everywhere(`DROP DATABASE IF EXISTS ` + name + ` WITH (FORCE)`) })
	c.everywhere(`CREATE DATABASE ` + name + ` TEMPLATE ` + source + ` STRATEGY file_copy`)
	c.distribute(name) // for what is set on the database
	return named(server, name)
}

// make creates a migrated and distributed database that can be copied.
func (c citus) make(name string) {
	c.t.Helper()
	c.everywhere(`DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`,
		`CREATE DATABASE `+name+` TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C' ENCODING 'UTF8'`)
	for i, node := range c.nodes {
		c.exec(named(node, name), `CREATE EXTENSION citus`)
		if i == 0 {
			c.exec(named(node, name), `SELECT citus_set_coordinator_host(`+c.place(node)+`)`)
		} else {
			c.exec(named(c.nodes[0], name), `SELECT citus_add_node(`+c.place(node)+`)`)
		}
	}
	c.distribute(name)
	// Nobody may be connected to what is copied, and a daemon of Citus is.
	c.everywhere(`ALTER DATABASE `+name+` ALLOW_CONNECTIONS false`,
		`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '`+name+`'`)
}

func (c citus) distribute(name string) {
	c.t.Helper()
	ctx := context.Background()
	db, err := sqldb.Open(ctx, named(c.nodes[0], name), sqldb.Options{MaxConns: 2})
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	if _, err = db.Migrate(ctx); err == nil {
		err = db.Distribute(ctx, 4)
	}
	if err != nil {
		c.t.Fatalf("distribute a test database: %v", err)
	}
}

// place is a node as arguments of Citus's functions.
func (c citus) place(node string) string {
	c.t.Helper()
	u, err := url.Parse(node)
	if err != nil {
		c.t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(u.Host)
	if err != nil {
		c.t.Fatal(err)
	}
	return fmt.Sprintf(`'%s', %s`, host, port)
}

// everywhere runs statements on each node, in the database that its address names.
func (c citus) everywhere(statements ...string) {
	c.t.Helper()
	for _, node := range c.nodes {
		c.exec(node, append([]string{`SET citus.enable_create_database_propagation TO off`}, statements...)...)
	}
}

func (c citus) exec(address string, statements ...string) {
	c.t.Helper()
	db, err := sql.Open("pgx", address)
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			c.t.Errorf("%s: %v", s, err)
		}
	}
}

func (c citus) one(address, query string) (n int) {
	c.t.Helper()
	db, err := sql.Open("pgx", address)
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		c.t.Fatal(err)
	}
	return n
}

// citusWorkers returns the value of CitusWorkers.
func citusWorkers() string { return os.Getenv(CitusWorkers) }
