package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Profile begins to take a processor profile of the program after a while, if profiles are wanted, and returns
// what waits for its end.
func (t *Target) Profile(ctx context.Context, name string, after, span time.Duration) (wait func() error) {
	if t.Profiles == "" || t.Admin == "" {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() {
		select {
		case <-time.After(after):
			done <- t.profile(ctx, name, max(int(span.Seconds()), 1))
		case <-ctx.Done():
			done <- ctx.Err()
		}
	}()
	return func() error { return <-done }
}

func (t *Target) profile(ctx context.Context, name string, seconds int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", t.Admin, seconds), nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := os.MkdirAll(t.Profiles, 0o700); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(t.Profiles, strings.NewReplacer(" ", "-", ",", "").Replace(name)+".pprof"))
	if err != nil {
		return err
	}
	_, err = io.Copy(f, res.Body)
	return errors.Join(err, f.Close())
}
