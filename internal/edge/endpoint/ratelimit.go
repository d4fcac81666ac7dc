package endpoint

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/base/fault"
)

func bucketOf(p auth.Principal) string {
	if p.IsKey() {
		return "key:" + p.KeyID.String()
	}
	return "session:" + p.Session.String()
}

// countFailure counts a failed credential against the caller's address. After too many, it returns the
// fault of the rate limit instead of err.
func (x *call) countFailure(ctx context.Context, err error) error {
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.Unauthenticated {
		x.setFailureLimit(ctx)
		return err
	}
	x.w.Header().Set("WWW-Authenticate", `ApiKey header="X-API-Key"`)
	if limited := x.countRequest(ctx, failureRule, ratelimit.Address(x.ip)); limited != nil {
		return limited
	}
	return err
}

// setFailureLimit sets the headers for the limit of the caller's address, which are replaced later if a
// credential is valid.
func (x *call) setFailureLimit(ctx context.Context) {
	s, err := x.router.Limiter.Peek(ctx, failureRule, ratelimit.Address(x.ip), x.router.Now())
	if err == nil {
		x.setRateLimit(s)
	}
}

// countRequest counts a request against a rate limit; it returns ErrRateLimited if the limit is exceeded.
func (x *call) countRequest(ctx context.Context, rule ratelimit.Rule, key string) error {
	s, err := x.router.Limiter.Acquire(ctx, rule, key, x.router.Now())
	if err != nil {
		return err
	}
	x.setRateLimit(s)
	if s.Allowed {
		return nil
	}
	wait := ceilSeconds(s.Reset)
	x.w.Header().Set("Retry-After", strconv.Itoa(wait))
	return ErrRateLimited.Sayf("Rate limit of %d requests per minute exceeded; retry in %d s", s.Limit, wait)
}

func (x *call) setRateLimit(s ratelimit.State) {
	h := x.w.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(s.Limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(s.Remaining, 0)))
	h.Set("X-RateLimit-Reset", strconv.Itoa(ceilSeconds(s.Reset)))
}

// ceilSeconds returns d in seconds, rounded up, so that a caller that waits this long waits long enough.
func ceilSeconds(d time.Duration) int { return int(math.Ceil(max(d, 0).Seconds())) }

// setRetryAfter sets the header Retry-After for a fault of kind Limited.
func (x *call) setRetryAfter(f *fault.Error) {
	if f.Kind != fault.Limited {
		return
	}
	h := x.w.Header()
	if w, ok := f.Details.(interface{ RetryAfter() time.Duration }); ok {
		h.Set("Retry-After", strconv.Itoa(ceilSeconds(w.RetryAfter())))
	} else if h.Get("Retry-After") == "" {
		h.Set("Retry-After", "60")
	}
}

// The rate limits of callers without a valid credential.
var (
	failureRule   = ratelimit.Rule{Name: "denied", Max: 60, Window: time.Minute}    // failed credentials of an address
	discoveryRule = ratelimit.Rule{Name: "discover", Max: 120, Window: time.Minute} // discovery by an address
)
