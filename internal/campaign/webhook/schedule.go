package webhook

import (
	"net/http"
	"time"
)

// retryAfter are the pauses before the second attempt and later ones.
var retryAfter = [...]time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour}

// disableAfter is how long all attempts must have failed before an endpoint is disabled.
const disableAfter = 5 * 24 * time.Hour

// MaxResponse is how much of an answer is stored.
const MaxResponse = 4 << 10

// Attempt is one request to an endpoint and its answer.
type Attempt struct {
	At    time.Time
	Code  int // 0: no answer
	Took  time.Duration
	Body  string // the beginning of the answer's, at most MaxResponse
	Error string // why there was no answer
}

// Success reports whether the endpoint accepted the event.
func (a Attempt) Success() bool { return a.Code >= 200 && a.Code <= 299 }

// gone reports whether the endpoint asks for no more events.
func (a Attempt) gone() bool { return a.Code == http.StatusGone }

// next returns the state of a delivery after an attempt, and when the next one is due; tries is the
// number of attempts including this one.
func (a Attempt) next(tries int) (DeliveryStatus, *time.Time) {
	switch {
	case a.Success():
		return Delivered, nil
	case a.gone() || tries > len(retryAfter):
		return Failed, nil
	}
	return Retrying, new(a.At.Add(retryAfter[max(tries, 1)-1]))
}
