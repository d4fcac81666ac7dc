package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"time"
)

// Client calls the API of a program's tenant.
type Client struct {
	Program *Program
	Session bool   // with the owner's cookie instead of the API key
	Key     string // the Idempotency-Key of all requests; empty: none

	http *http.Client
}

// Answer is a response.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Decode reads the body into v.
func (a Answer) Decode(v any) error {
	if err := json.Unmarshal(a.Body, v); err != nil {
		return fmt.Errorf("answer %d %q: %w", a.Status, a.Body, err)
	}
	return nil
}

// Map returns the body as an object.
func (a Answer) Map() map[string]any {
	var m map[string]any
	_ = json.Unmarshal(a.Body, &m)
	return m
}

// Code returns the code of an error's envelope.
func (a Answer) Code() string {
	e, _ := a.Map()["error"].(map[string]any)
	code, _ := e["code"].(string)
	return code
}

// Keyed returns a client with the program's API key.
func (p *Program) Keyed() *Client {
	return &Client{Program: p, http: &http.Client{Timeout: 4 * time.Minute}}
}

// SignIn returns a client that is signed in as the owner.
func (p *Program) SignIn(ctx context.Context) (*Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	c := &Client{Program: p, Session: true, http: &http.Client{Timeout: 4 * time.Minute, Jar: jar}}
	a, err := c.Raw(ctx, http.MethodPost, "/api/auth/login", map[string]string{"email": Owner, "password": Password})
	if err != nil {
		return nil, err
	}
	if a.Status != http.StatusOK {
		return nil, fmt.Errorf("sign in: %d %s", a.Status, a.Body)
	}
	return c, nil
}

// Do calls an operation of the tenant: path begins after /t/acme/api.
func (c *Client) Do(ctx context.Context, method, path string, body any) (Answer, error) {
	return c.Raw(ctx, method, "/t/"+c.Program.slug()+"/api"+path, body)
}

// Raw calls any path of the program. A body is encoded as JSON unless it is a
// string, which is sent as it is.
func (c *Client) Raw(ctx context.Context, method, path string, body any) (Answer, error) {
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			return Answer{}, err
		}
		r = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Program.BaseURL+path, r)
	if err != nil {
		return Answer{}, err
	}
	if r != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Key != "" {
		req.Header.Set("Idempotency-Key", c.Key)
	}
	if !c.Session {
		req.Header.Set("X-API-Key", c.Program.Key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return Answer{res.StatusCode, res.Header, raw}, err
}

// Must calls an operation that has to succeed and returns the object it answers.
func (c *Client) Must(ctx context.Context, method, path string, body any) (map[string]any, error) {
	a, err := c.Do(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	if a.Status >= 300 {
		return nil, fmt.Errorf("%s %s: %d %s", method, path, a.Status, a.Body)
	}
	return a.Map(), nil
}
