package endpoint

import (
	"context"
	"net/http"
)

type claim struct{}

func (x *exchange) replayed(r *http.Request) bool { return false }

func remembered[Out any](x *exchange, ctx context.Context, call func() (Out, error)) (Out, error) {
	return call()
}
