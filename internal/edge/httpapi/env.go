package httpapi

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
