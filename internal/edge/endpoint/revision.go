package endpoint

import (
	"context"
	"net/http"
	"strings"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// ifMatch is the header with the condition of a write.
const ifMatch = "If-Match"

// Revised returns op as an operation whose response shows a record of the table.
func (op Op) Revised(t revision.Table) Op {
	op.Revisions = t
	return op
}

// IfMatch returns op as an operation that writes a record of the table, and checks If-Match.
func (op Op) IfMatch(t revision.Table) Op {
	op.Revisions, op.Conditional = t, true
	return op
}

// SetRevision sets the ETag of the response to a revision of the record that it shows.
func SetRevision(ctx context.Context, n int64) {
	if x := callOf(ctx); x != nil {
		x.etag = revision.Tag(n)
	}
}

func (x *call) setETag() {
	if x.etag != "" {
		x.w.Header().Set("ETag", x.etag)
	}
}

// bindCondition reads If-Match, where the operation checks it, and reports a malformed one.
func (x *call) bindCondition(r *http.Request) {
	lines := r.Header.Values(ifMatch)
	if !x.route.Conditional || len(lines) == 0 {
		return
	}
	var ok bool
	if x.condition, ok = revision.Parse(strings.Join(lines, ",")); !ok {
		x.problems.add(ifMatch, `must be * or a list of at most 100 entity tags, such as "7"`)
	}
}

// writeContext returns the context for the operation: with the author of its writes, and the condition of
// the request.
func (x *call) writeContext(ctx context.Context) context.Context {
	switch p := x.principal; p.Kind {
	case auth.KindKey:
		ctx = revision.WithAuthor(ctx, id.ToAuthor(p.KeyID))
	case auth.KindSession:
		ctx = revision.WithAuthor(ctx, id.ToAuthor(p.User))
	}
	if x.route.Conditional {
		ctx = x.route.Revisions.With(ctx, x.condition)
	}
	return ctx
}

// conflict are the details of REVISION_CONFLICT.
type conflict struct {
	Revision  int64       `json:"revision"`
	UpdatedAt Stamp       `json:"updated_at"`
	UpdatedBy *auth.Actor `json:"updated_by"`
}

// describeConflict returns f with the details for the caller, if it reports a conflict of revisions.
func (r *Router) describeConflict(x *call, f *fault.Error) *fault.Error {
	present, ok := f.Details.(revision.Conflict)
	if !ok {
		return f
	}
	details := conflict{Revision: present.Revision, UpdatedAt: At(present.UpdatedAt)}
	if !present.By.IsZero() {
		actor, err := auth.ActorOf(x.ctx, r.DB, present.Tenant, present.By)
		if err != nil {
			r.Log.Warn("find the author of a revision failed", "err", err, "request", x.id)
		}
		details.UpdatedBy = actor
	}
	return f.With(details)
}
