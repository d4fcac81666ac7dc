package content_test

import (
	"errors"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/mail/mjml"
)

func TestFaultsOfMJML(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		kind fault.Kind
		code string
		wait time.Duration
	}{
		{&mjml.Error{Line: 2, Message: "m"}, fault.Invalid, "MJML_INVALID", 0},
		{&mjml.UnknownError{Elements: []mjml.Element{{Tag: "mj-x", Line: 1}}}, fault.Invalid, "MJML_UNKNOWN_ELEMENT", 0},
		{mjml.ErrTooMuch, fault.Invalid, "MJML_INVALID", 0},
		{mjml.ErrUnavailable, fault.Unavailable, "UNAVAILABLE", 0},
		{mjml.ErrOwnerBusy, fault.Limited, "RATE_LIMITED", 5 * time.Second},
		{mjml.ErrBusy, fault.Unavailable, "UNAVAILABLE", 0},
	} {
		f, ok := errors.AsType[*fault.Error](content.MJMLFault("content_mjml", tt.err))
		if !ok || f.Kind != tt.kind || f.Code != tt.code {
			t.Errorf("%v becomes %v", tt.err, f)
			continue
		}
		if w, ok := f.Details.(interface{ RetryAfter() time.Duration }); ok != (tt.wait > 0) || ok && w.RetryAfter() != tt.wait {
			t.Errorf("%v: details %#v, want a wait of %v", tt.err, f.Details, tt.wait)
		}
	}
}
