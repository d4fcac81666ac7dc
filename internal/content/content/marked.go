package content

import (
	"context"
	"errors"
	"strings"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/mark"
	"github.com/packetboat/packetboat/internal/mail/mjml"
)

// Marked is HTML with marks, for previews.
type Marked struct {
	Marker   mark.Marker
	Labelled string // the MJML with labels; empty if there is none
	HTML     string
	Exact    bool // without the marks, it is the HTML that is sent
}

// CompileMarked compiles labelled MJML. It returns nil for a source that Compile refuses.
func CompileMarked(ctx context.Context, c *mjml.Compiler, tenant id.Tenant, m mark.Marker, field, labelled string) (*Marked, error) {
	r, exact, err := c.CompileMarked(ctx, tenant.String(), m, labelled)
	_, isError := errors.AsType[*mjml.Error](err)
	_, isUnknown := errors.AsType[*mjml.UnknownError](err)
	switch {
	case isError, isUnknown:
		return nil, nil
	case err != nil:
		return nil, MJMLFault(field, err)
	case strings.TrimSpace(r.HTML) == "":
		return nil, nil
	}
	return &Marked{Marker: m, Labelled: labelled, HTML: r.HTML, Exact: exact}, nil
}
