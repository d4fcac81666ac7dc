package content

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/mail/mjml"
)

// The faults of MJML.
var (
	ErrMJML         = fault.New(fault.Invalid, "MJML_INVALID", "this is no MJML document")         // details: LiquidProblem's shape
	ErrMJMLElement  = fault.New(fault.Invalid, "MJML_UNKNOWN_ELEMENT", "MJML has no such element") // details: UnknownElements
	ErrMJMLEmpty    = fault.New(fault.Invalid, "MJML_COMPILE_FAILED", "the MJML compiles to nothing")
	ErrMJMLCompiler = fault.New(fault.Unavailable, "UNAVAILABLE", "this program was built without the MJML compiler: run `make build` where the npm registry can be reached")
	ErrMJMLWaiting  = fault.New(fault.Limited, "RATE_LIMITED", "too many documents of this tenant wait to be compiled; try again in a few seconds") // details: fault.Wait
	ErrMJMLBusy     = fault.New(fault.Unavailable, "UNAVAILABLE", "too many documents wait to be compiled; try again in a few seconds")
)

// UnknownElements is the details of ErrMJMLElement.
type UnknownElements struct {
	Field    string         `json:"field"`
	Elements []mjml.Element `json:"elements"`
}

// CompileMJML returns the HTML of a tenant's MJML document; field is its name in faults.
func CompileMJML(ctx context.Context, c *mjml.Compiler, tenant id.Tenant, field, source string) (mjml.Result, error) {
	r, err := c.Compile(ctx, tenant.String(), source)
	if err != nil {
		return mjml.Result{}, MJMLFault(field, err)
	}
	if strings.TrimSpace(r.HTML) == "" {
		return mjml.Result{}, ErrMJMLEmpty.Sayf("%s compiles to nothing", field)
	}
	return r, nil
}

// MJMLFault converts an error of package mjml to a fault.
func MJMLFault(field string, err error) error {
	if e, ok := errors.AsType[*mjml.Error](err); ok {
		where := field
		if e.Line > 0 {
			where = fmt.Sprintf("%s, line %d", field, e.Line)
		}
		return ErrMJML.With(LiquidProblem{field, e.Line, e.Column, e.Message}).Sayf("%s: %s", where, e.Message)
	}
	if e, ok := errors.AsType[*mjml.UnknownError](err); ok {
		first := e.Elements[0]
		return ErrMJMLElement.With(UnknownElements{field, e.Elements}).
			Sayf("%s, line %d: MJML has no element <%s>; remove it or use one of MJML's own", field, first.Line, first.Tag)
	}
	switch {
	case errors.Is(err, mjml.ErrTooMuch):
		return ErrMJML.With(LiquidProblem{field, 0, 0, "takes too much time or memory"}).
			Sayf("%s takes too much time or memory to compile; make it smaller", field)
	case errors.Is(err, mjml.ErrUnavailable):
		return ErrMJMLCompiler
	case errors.Is(err, mjml.ErrOwnerBusy):
		return ErrMJMLWaiting.With(fault.Wait{Seconds: 5})
	case errors.Is(err, mjml.ErrBusy):
		return ErrMJMLBusy
	}
	return err
}
