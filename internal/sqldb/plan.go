package sqldb

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// PlannedAnew is a comment that makes PostgreSQL plan a statement for the values
// at hand each time it is run. A plan for any values, which it would keep after a
// few runs, knows nothing of how long a stretch of time is or how common a word,
// and may take a hundred times as long; a plan costs about a millisecond. On
// SQLite, it keeps the statement out of the caches of prepared ones.
const PlannedAnew = " /* planned anew */ "

// mode puts before the parameters how a statement is to be run.
func mode(text string, args []any) []any {
	if strings.Contains(text, PlannedAnew) {
		return append([]any{pgx.QueryExecModeCacheDescribe}, args...) // without a name its plan is not kept
	}
	return args
}
