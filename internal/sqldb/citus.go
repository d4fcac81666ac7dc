package sqldb

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/packetboat/packetboat/internal/base/id"
)

// CitusScript distributes the tables of a migrated database over the nodes of a Citus cluster
// (docs/scaling.md).
//
//go:embed citus.sql
var CitusScript string

// Distribute distributes the tables of a migrated database, each in the given number of shards. It
// can be called again to distribute tables that were created since. No other process may have the
// database open meanwhile.
func (db *DB) Distribute(ctx context.Context, shards int) error {
	if db.dialect != Postgres {
		return errors.New("distribute the tables: the database is not PostgreSQL")
	}
	var citus bool
	if err := db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')`).Scan(&citus); err != nil {
		return fmt.Errorf("distribute the tables: %w", err)
	}
	if !citus {
		return errors.New("distribute the tables: the database has no extension citus")
	}
	err := db.InTx(ctx, func(tx *DB) error {
		if _, err := tx.Exec(ctx, `SELECT set_config('citus.shard_count', $1, TRUE)`, strconv.Itoa(shards)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, CitusScript)
		return err
	})
	if err == nil {
		err = db.assumeOnWorkers(ctx)
	}
	if err != nil {
		return fmt.Errorf("distribute the tables: %w", err)
	}
	return nil
}

// assumeOnWorkers sets the planner statistics of the shards on the workers, as assumePostgres does
// for tables.
func (db *DB) assumeOnWorkers(ctx context.Context) error {
	const first, owned = "BEGIN\n", "AND pg_has_role(r.relowner, 'USAGE')"
	script := strings.Replace(PostgresStatistics, first, first+`
		PERFORM set_config('citus.enable_manual_changes_to_shards', 'on', TRUE), set_config('citus.override_table_visibility', 'off', TRUE);`, 1)
	script = strings.Replace(script, owned, owned+` AND NOT EXISTS (SELECT FROM pg_dist_partition AS d WHERE d.logicalrelid = r.oid)`, 1)
	rows, err := db.Query(ctx, `SELECT nodename || ':' || nodeport || ': ' || result FROM run_command_on_workers($1) WHERE NOT success`, script)
	failed, err := Collect(rows, err, func(scan func(...any) error) (s string, err error) { return s, scan(&s) })
	if err == nil && len(failed) > 0 {
		err = fmt.Errorf("set the planner statistics: %s", strings.Join(failed, "; "))
	}
	return err
}

// Distributed reports whether the rows of tenants are on the nodes of a Citus cluster.
func (db *DB) Distributed() bool { return db.distributed != nil && db.distributed.Load() }

// Home returns, for a FROM clause, a table h of one row: the tenant of parameter $n, as
// h.tenant_id. Statements that insert several rows of a tenant select the tenant from it:
//
//	INSERT INTO outbox (tenant_id, id) SELECT h.tenant_id, v.id
//	FROM `+tx.Home(1)+` CROSS JOIN `+t.As("v", 2)
//
// On a Citus cluster it is the tenant's row of the table home, which is distributed in the same way
// as the tenants' rows. The statement then runs on one node. Otherwise the coordinator would run
// it, and commit in two phases. If the row is missing, the statement fails.
func (db *DB) Home(n int) string {
	if db.Distributed() {
		return fmt.Sprintf("(SELECT key AS tenant_id %s%d) AS h", fromHome, n)
	}
	return "(SELECT " + db.Param(n, "INTEGER") + " AS tenant_id) AS h"
}

// fromHome precedes the number of the parameter in Home.
const fromHome = "FROM home WHERE key = $"

// requireHome returns an error if a statement selects from Home and the row is missing: the
// statement would insert nothing. Rows are never deleted, so each is looked up once in a process.
func (db *DB) requireHome(ctx context.Context, text string, args []any) error {
	if !db.Distributed() {
		return nil
	}
	_, rest, ok := strings.Cut(text, fromHome)
	if !ok {
		return nil
	}
	n, err := strconv.Atoi(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))])
	if err != nil || n < 1 || n > len(args) {
		return errors.New("sqldb: a statement lacks the parameter of Home")
	}
	key, ok := args[n-1].(int64)
	if !ok {
		return fmt.Errorf("sqldb: the parameter of Home has type %T, want a tenant or group", args[n-1])
	}
	if _, known := db.homes.Load(key); known {
		return nil
	}
	found := false
	if err := db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM home AS h WHERE h.key = $1)`, key).Scan(&found); err != nil {
		return fmt.Errorf("look up the row of the table home: %w", err)
	}
	if !found {
		return fmt.Errorf("sqldb: the table home has no row with the key %d", key)
	}
	db.homes.Store(key, true)
	return nil
}

// AssignHome inserts the row of a new tenant into the table home.
func (db *DB) AssignHome(ctx context.Context, t id.Tenant) error {
	if !db.Distributed() {
		return nil
	}
	_, err := db.Exec(ctx, `INSERT INTO home (key) VALUES ($1) ON CONFLICT DO NOTHING`, t)
	return err
}

// assignHomes inserts missing rows into the table home, of tenants that were copied into the
// database.
func (db *DB) assignHomes(ctx context.Context) error {
	if !db.Distributed() {
		return nil
	}
	_, err := db.Exec(ctx, `INSERT INTO home (key) SELECT tenant_id FROM tenant ON CONFLICT DO NOTHING`)
	if err != nil {
		return fmt.Errorf("assign tenants to nodes: %w", err)
	}
	return nil
}

// distributedSession sets the parameters of sessions where the tables are distributed. A statement
// on all shards uses the one connection that a session keeps to each worker, and opens no more.
const distributedSession = `
	SELECT set_config('plan_cache_mode', $1, FALSE), set_config('citus.max_adaptive_executor_pool_size', '1', FALSE)
	WHERE to_regclass('home') IS NOT NULL`

// detectCitus stores, on a new connection, whether the tables are distributed. If so, plans are
// made for the values of parameters, which Citus needs to determine the node of a statement.
func (s *shared) detectCitus(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, distributedSession, pgx.QueryExecModeExec, distributedPlans)
	if err != nil {
		return err
	}
	defer rows.Close()
	if rows.Next() {
		s.distributed.Store(true)
	}
	rows.Close()
	return rows.Err()
}
