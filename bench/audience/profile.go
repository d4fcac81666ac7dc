package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/packetboat/packetboat/bench/press"
)

// profile begins to take a processor profile of the program while it is under a
// load, if profiles are wanted, and returns what waits for its end.
func (o options) profile(name string, p press.Pace) (wait func() error) {
	if o.profiles == "" || o.admin == "" {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() {
		time.Sleep(p.Warm)
		done <- o.takeProfile(name, max(int(p.Span.Seconds()), 1))
	}()
	return func() error { return <-done }
}

func (o options) takeProfile(name string, seconds int) error {
	res, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", o.admin, seconds))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := os.MkdirAll(o.profiles, 0o700); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(o.profiles, strings.NewReplacer(" ", "-", ",", "").Replace(name)+".pprof"))
	if err != nil {
		return err
	}
	_, err = io.Copy(f, res.Body)
	return errors.Join(err, f.Close())
}
