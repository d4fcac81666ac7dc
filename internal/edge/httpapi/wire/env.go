// Package wire has what the resources of the API share: how they read ids, times and absent fields, show
// the public or the session form of a record, and run an operation once. It knows no resource and no route;
// those are in the packages that import it, and the format of requests and answers is that of endpoint.
package wire

import (
	"log/slog"
	"net/url"
	"time"

	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/edge/endpoint"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Env is what resources share. Their constructors take from it what they need.
type Env struct {
	DB      *sqldb.DB
	Box     *secret.Box
	Cursors *endpoint.Cursors
	BaseURL *url.URL
	Log     *slog.Logger
	Now     func() time.Time
}
