package public

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/fault"
)

//go:embed account
var accountFiles embed.FS

var (
	accountTemplate = template.Must(template.ParseFS(accountFiles, "account/page.html"))
	accountStyle    = mustRead("account/style.css")
	// accountPolicy allows the page's own style, by its hash, and nothing else.
	accountPolicy = "default-src 'none'; style-src 'sha256-" + hashOf(accountStyle) +
		"'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

func mustRead(name string) string {
	b, err := accountFiles.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(b)
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// accountView is the data of a page about a login.
type accountView struct {
	Title   string
	Text    []string
	Problem string // above the form
	Form    *accountForm
	Welcome *welcomeView
	Style   template.CSS
}

// accountForm is a form for an operation. The token is sent in the body, so that it does not appear in
// another URL.
type accountForm struct {
	Action, Button   string
	TokenName, Token string
	Key              string // the same as in the form's cookie
	Fields           []accountField
}

type accountField struct {
	Name, Label, Type, Autocomplete string
	Hint, Value, Problem            string
	ReadOnly                        bool
}

// DescribedBy lists the elements that explain the field.
func (f accountField) DescribedBy() string {
	var ids []string
	if f.Hint != "" {
		ids = append(ids, f.Name+"-hint")
	}
	if f.Problem != "" {
		ids = append(ids, f.Name+"-problem")
	}
	return strings.Join(ids, " ")
}

// fill sets the values that were sent. Passwords must be entered again.
func (f *accountForm) fill(sent url.Values) {
	for i := range f.Fields {
		if one := &f.Fields[i]; one.Type != "password" && !one.ReadOnly {
			one.Value = strings.ToValidUTF8(sent.Get(one.Name), "")
		}
	}
}

// fieldOf maps the code of a fault without details to a field.
var fieldOf = map[string]string{
	"DUPLICATE_SLUG":      "tenant_slug",
	"DUPLICATE_EMAIL":     "email",
	"INVALID_CREDENTIALS": "password",
}

// refuse shows a fault in the form.
func (v *accountView) refuse(err *fault.Error) {
	problems := map[string]string{}
	if details, ok := err.Details.(fault.Fields); ok {
		for _, p := range details.Fields {
			problems[p.Path] = p.Message
		}
	} else if name := fieldOf[err.Code]; name != "" {
		problems[name] = err.Message
	}
	shown := 0
	for i := range v.Form.Fields {
		f := &v.Form.Fields[i]
		if f.Problem = problems[f.Name]; f.Problem != "" {
			f.Problem = f.Label + ": " + f.Problem
			shown++
		}
	}
	switch {
	case shown == 0:
		v.Problem = strings.ToUpper(err.Message[:1]) + err.Message[1:] + "."
	case shown == 1:
		v.Problem = "One field needs another look."
	default:
		v.Problem = strconv.Itoa(shown) + " fields need another look."
	}
}

// statusOfForm returns the status of a page that shows why a form was refused.
func statusOfForm(err *fault.Error) int {
	switch err.Kind {
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.Conflict:
		return http.StatusConflict
	case fault.Limited:
		return http.StatusTooManyRequests
	}
	return http.StatusBadRequest
}

// show writes a page about a login. It runs no script, loads nothing, cannot be framed, and does not send its
// URL, which contains a token, as a referrer.
func (a *Accounts) show(w http.ResponseWriter, r *http.Request, status int, v accountView) {
	v.Style = template.CSS(accountStyle)
	var page bytes.Buffer
	if err := accountTemplate.Execute(&page, v); err != nil {
		a.Log.Error("render account page failed", "err", err)
		http.Error(w, "Something went wrong on our side.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", accountPolicy)
	h.Set("Referrer-Policy", "no-referrer")
	common(h)
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(page.Bytes())
	}
}

// fail writes the page for an internal error. The log contains no token.
func (a *Accounts) fail(w http.ResponseWriter, r *http.Request, err error) {
	a.Log.Error("account page failed", "path", r.URL.Path, "err", err)
	a.show(w, r, http.StatusServiceUnavailable, accountView{
		Title: "Please try again", Text: []string{"Something went wrong on our side. Please try again in a minute."},
	})
}

// retry sets Retry-After for a refused form.
func retry(w http.ResponseWriter, err *fault.Error) {
	if wait, ok := err.Details.(auth.Wait); ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.RetryAfter()/time.Second)))
	}
}
