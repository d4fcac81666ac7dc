package public

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/ratelimit"
	"github.com/packetboat/packetboat/internal/account/tenant"
	forms "github.com/packetboat/packetboat/internal/audience/form"
	"github.com/packetboat/packetboat/internal/audience/visitor"
	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/message/track"
	"github.com/packetboat/packetboat/internal/sqldb"
)

//go:embed form/form.js
var formScript string

// Limits of submissions. Those without a token, which need no script, have a third.
var (
	formClientLimit = ratelimit.Rule{Name: "form client", Max: 10, Window: time.Minute}
	formLimit       = ratelimit.Rule{Name: "form", Max: 600, Window: time.Minute}
	plainClient     = ratelimit.Rule{Name: "plain form client", Max: formClientLimit.Max / 3, Window: time.Minute}
	plainLimit      = ratelimit.Rule{Name: "plain form", Max: formLimit.Max / 3, Window: time.Minute}
)

var (
	errOrigin    = fault.New(fault.Forbidden, "ORIGIN_NOT_ALLOWED", "the form may not be submitted from this origin")
	errFormLimit = fault.New(fault.Limited, "RATE_LIMITED", "too many submissions; try again in a minute")
)

// Forms serves tenants' forms: their script and configuration, submissions, and the page that confirms
// a subscription.
type Forms struct {
	DB       *sqldb.DB
	Intake   *forms.Intake
	Keys     *track.Keys
	Limits   *ratelimit.Limiter
	ClientIP func(*http.Request) netip.Addr // behind trusted proxies
	Log      *slog.Logger
	Now      func() time.Time

	// Visitors connects visitors of websites with the addresses that they submit; it may be nil.
	Visitors *visitor.Collector
}

// Routes adds the routes to mux.
func (p *Forms) Routes(mux *http.ServeMux) {
	mux.Handle("GET /_q/f.js", embeddedScript(formScript))
	mux.HandleFunc("/_q/f/{slug}/config", p.serve(http.MethodGet, p.config))
	mux.HandleFunc("/_q/f/{slug}", p.serve(http.MethodPost, p.submit))
	mux.HandleFunc("GET /_q/d/{token}", p.confirmPage)
	mux.HandleFunc("POST /_q/d/{token}", p.confirm)
}

// serve answers requests of a form's page: preflights, and those with the method by next.
func (p *Forms) serve(method string, next func(http.ResponseWriter, *http.Request, published) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		h.Add("Vary", "Origin")
		f, err := p.find(r.Context(), r.PathValue("slug"))
		if err != nil {
			h.Set("Access-Control-Allow-Origin", "*")
			p.refuse(w, r, personOf(r, nil), err)
			return
		}
		origin := r.Header.Get("Origin")
		switch {
		case len(f.Origins) == 0:
			h.Set("Access-Control-Allow-Origin", "*")
		case f.Admits(origin):
			h.Set("Access-Control-Allow-Origin", origin)
		}
		switch {
		case r.Method == http.MethodOptions:
			h.Set("Access-Control-Allow-Methods", method)
			h.Set("Access-Control-Allow-Headers", "Content-Type")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
		case r.Method == method, method == http.MethodGet && r.Method == http.MethodHead:
			if err := next(w, r, f); err != nil {
				p.refuse(w, r, personOf(r, &f.tenant), err)
			}
		default:
			h.Set("Allow", method+", OPTIONS")
			writeError(w, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", "use "+method, nil)
		}
	}
}

// published is a form that takes submissions, and its tenant.
type published struct {
	forms.Form
	tenant tenant.Tenant
}

// find returns the published form with a slug, of a tenant that still exists.
func (p *Forms) find(ctx context.Context, slug string) (published, error) {
	f, err := forms.BySlug(ctx, p.DB, slug)
	if err != nil {
		return published{}, err
	}
	t, err := tenant.ByID(ctx, p.DB, f.Tenant)
	if errors.Is(err, tenant.ErrNotFound) || err == nil && t.Status == tenant.Deleted {
		return published{}, forms.ErrNotFound
	}
	return published{f, t}, err
}

// formConfig is what the script needs of a form.
type formConfig struct {
	Slug           string            `json:"slug"`
	Name           string            `json:"name"`
	Fields         []formConfigField `json:"fields"`
	SubmitLabel    string            `json:"submit_label"`
	SuccessMode    string            `json:"success_mode"`
	SuccessMessage string            `json:"success_message"`
	RedirectURL    *string           `json:"redirect_url"`
	Captcha        formConfigCaptcha `json:"captcha"`
	Honeypot       string            `json:"honeypot_field"`
	Token          string            `json:"token"`
}

type formConfigCaptcha struct {
	Provider string  `json:"provider"`
	SiteKey  *string `json:"site_key"`
}

type formConfigField struct {
	ID          string          `json:"id"`
	Type        forms.FieldType `json:"type"`
	Binding     *string         `json:"binding"`
	Label       string          `json:"label"`
	Placeholder *string         `json:"placeholder"`
	HelpText    *string         `json:"help_text"`
	Required    bool            `json:"required"`
	Input       *forms.Input    `json:"input"`
	Options     []string        `json:"options"`
	Default     any             `json:"default_value"`
	Param       *string         `json:"param"`
	SortOrder   int             `json:"sort_order"`
}

func nullable[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

func (p *Forms) config(w http.ResponseWriter, _ *http.Request, f published) error {
	c := formConfig{
		Slug: f.Slug, Name: f.Name, Fields: []formConfigField{}, SubmitLabel: f.SubmitLabel, SuccessMode: f.SuccessMode, SuccessMessage: f.SuccessMessage,
		RedirectURL: nullable(f.RedirectURL), Captcha: formConfigCaptcha{f.CaptchaProvider, nullable(f.CaptchaSiteKey)},
		Honeypot: forms.Honeypot, Token: p.Intake.Tokens.Sign(f.Slug, p.Now()),
	}
	for _, one := range f.Fields {
		c.Fields = append(c.Fields, formConfigField{
			one.ID, one.Type, nullable(one.Binding), one.Label, nullable(one.Placeholder), nullable(one.HelpText), one.Required, nullable(one.Input),
			one.Options, one.Default, nullable(one.Param), one.SortOrder,
		})
	}
	writeJSON(w, http.StatusOK, c)
	return nil
}

// formAnswer is the answer to a submission.
type formAnswer struct {
	Status      string  `json:"status"` // accepted or confirmation_sent
	Message     string  `json:"message"`
	RedirectURL *string `json:"redirect_url"`
}

func (p *Forms) submit(w http.ResponseWriter, r *http.Request, f published) error {
	if !f.Admits(r.Header.Get("Origin")) {
		return errOrigin
	}
	now := p.Now()
	client := f.Slug + " " + ratelimit.Address(p.ClientIP(r))
	if err := p.within(w, r, formClientLimit, client, now); err != nil {
		return err
	}
	if err := p.within(w, r, formLimit, f.Slug, now); err != nil {
		return err
	}
	s, err := readSubmission(w, r)
	if err != nil {
		return err
	}
	if s.Token == "" && s.Encoded {
		if err := p.within(w, r, plainClient, client, now); err != nil {
			return err
		}
		if err := p.within(w, r, plainLimit, f.Slug, now); err != nil {
			return err
		}
	}
	s.IP, s.Agent = p.ClientIP(r).Unmap().WithZone("").String(), r.UserAgent()
	result, err := p.Intake.Submit(r.Context(), f.Form, s, now)
	if err != nil {
		return err
	}
	p.identify(r, f.Form, s.VisitorID, result.Email, now)
	to := personOf(r, &f.tenant)
	answer := formAnswer{Status: "accepted", Message: f.SuccessMessage}
	if result.ConfirmationSent {
		answer.Status, answer.Message = "confirmation_sent", to.text("text_confirm_mail")
	}
	if f.SuccessMode == forms.Redirect {
		answer.RedirectURL = nullable(f.RedirectURL)
	}
	switch {
	case !isPage(r):
		writeJSON(w, http.StatusOK, answer)
	case answer.RedirectURL != nil:
		w.Header().Set("Location", *answer.RedirectURL)
		w.WriteHeader(http.StatusSeeOther)
	default:
		to.show(w, r, http.StatusOK, pageView{Title: to.text("title_thanks"), Text: answer.Message})
	}
	return nil
}

// identify connects the visitor with the address, unless the browser asks not to (Sec-GPC:
// https://www.w3.org/TR/gpc/). It never fails: the submission is stored.
func (p *Forms) identify(r *http.Request, f forms.Form, browser, email string, now time.Time) {
	if p.Visitors == nil || email == "" || r.Header.Get("Sec-GPC") == "1" {
		return
	}
	request, ok := visitor.Submitted(browser, email, now)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), recordWithin)
	defer cancel()
	if err := p.Visitors.Accept(ctx, f.Tenant, request, ""); err != nil {
		p.Log.Error("identify the visitor of a form failed", "form", f.ID, "err", err)
	}
}

// within takes a permit of a limit.
func (p *Forms) within(w http.ResponseWriter, r *http.Request, rule ratelimit.Rule, key string, now time.Time) error {
	state, err := p.Limits.Acquire(r.Context(), rule, key, now)
	if err != nil || state.Allowed {
		return err
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(state.Reset/time.Second)+1))
	return errFormLimit
}

const (
	encodedForm   = "application/x-www-form-urlencoded"
	multipartForm = "multipart/form-data"
)

// mediaType returns the media type of a request's body; JSON if there is none.
func mediaType(r *http.Request) string {
	text := r.Header.Get("Content-Type")
	if text == "" {
		return "application/json"
	}
	t, _, err := mime.ParseMediaType(text)
	if err != nil {
		return text
	}
	return t
}

// isPage reports whether a request was made by a form of HTML, whose answer is a page.
func isPage(r *http.Request) bool {
	t := mediaType(r)
	return (t == encodedForm || t == multipartForm) && !strings.Contains(r.Header.Get("Accept"), "application/json")
}

var (
	errTooLarge  = fault.New(fault.Invalid, "PAYLOAD_TOO_LARGE", "a submission may have at most 64 KB")
	errMediaType = fault.New(fault.Invalid, "UNSUPPORTED_MEDIA_TYPE", "send JSON or the values of an HTML form")
)

func readSubmission(w http.ResponseWriter, r *http.Request) (forms.Submitted, error) {
	var s forms.Submitted
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, forms.MaxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return s, errTooLarge
	}
	if err != nil {
		return s, fault.Input(fault.Field{Path: "body", Message: "could not be read"}).Because(err)
	}
	switch mediaType(r) {
	case "application/json":
		return forms.ParseJSON(body)
	case encodedForm:
		v, err := url.ParseQuery(string(body))
		if err != nil {
			return s, fault.Input(fault.Field{Path: "body", Message: "is not form-encoded"}).Because(err)
		}
		return forms.ParseForm(v), nil
	case multipartForm:
		v, err := multipartValues(r, body)
		if err != nil {
			return s, fault.Input(fault.Field{Path: "body", Message: "is not multipart/form-data"}).Because(err)
		}
		return forms.ParseForm(v), nil
	}
	return s, errMediaType
}

// multipartValues returns the values of a multipart body. Files are ignored.
func multipartValues(r *http.Request, body []byte) (url.Values, error) {
	again := &http.Request{Method: http.MethodPost, Header: r.Header, Body: io.NopCloser(strings.NewReader(string(body)))}
	if err := again.ParseMultipartForm(forms.MaxBody); err != nil {
		return nil, err
	}
	defer again.MultipartForm.RemoveAll()
	return again.MultipartForm.Value, nil
}

// refuse writes an error, as a page for a form of HTML.
func (p *Forms) refuse(w http.ResponseWriter, r *http.Request, to person, err error) {
	f, ok := fault.As(err)
	if !ok {
		p.Log.Error("form request failed", "err", err, "path", kindOf(r.URL.Path))
		f = fault.New(fault.Unavailable, "UNAVAILABLE", "something went wrong on our side; try again in a minute")
	} else if f.Kind == fault.Unavailable {
		p.Log.Error("form submission refused", "err", err)
	}
	status := map[fault.Kind]int{
		fault.Invalid: http.StatusBadRequest, fault.Forbidden: http.StatusForbidden, fault.NotFound: http.StatusNotFound,
		fault.Limited: http.StatusTooManyRequests, fault.Unavailable: http.StatusServiceUnavailable,
	}[f.Kind]
	switch {
	case status == 0:
		status = http.StatusBadRequest
	case errors.Is(f, errTooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(f, errMediaType):
		status = http.StatusUnsupportedMediaType
	}
	if r.Method != http.MethodPost || !isPage(r) {
		writeError(w, status, f.Code, f.Message, f.Details)
		return
	}
	text := strings.ToUpper(f.Message[:1]) + f.Message[1:] + "."
	if d, ok := f.Details.(fault.Fields); ok && len(d.Fields) > 0 {
		lines := make([]string, len(d.Fields))
		for i, one := range d.Fields {
			lines[i] = one.Path + " " + one.Message
		}
		text = to.text("text_correct") + " " + strings.Join(lines, "; ") + "."
	}
	switch f.Kind {
	case fault.Limited:
		text = to.text("text_limited")
	case fault.Unavailable:
		text = to.text("text_error")
	}
	to.show(w, r, status, pageView{Title: to.text("title_refused"), Text: text})
}

// confirmPage shows a button and changes nothing, since scanners follow every link of a mail.
func (p *Forms) confirmPage(w http.ResponseWriter, r *http.Request) {
	t, to, err := p.verify(r)
	if err != nil {
		p.refuseConfirmation(w, r, to, err)
		return
	}
	s, err := p.Intake.Pending(r.Context(), t.Tenant, t.Message, p.Now())
	switch {
	case err != nil:
		p.refuseConfirmation(w, r, to, err)
	case s.Confirmed:
		to.page(w, r, http.StatusOK, "title_confirmed", "text_confirmed_before")
	default:
		text := to.text("text_confirm", "address", to.masked(s.Email))
		if len(s.Wordings) > 0 {
			text = to.text("text_confirm_for", "address", to.masked(s.Email)) + " “" + strings.Join(s.Wordings, "” “") + "”"
		}
		to.show(w, r, http.StatusOK, pageView{
			Title: to.text("title_confirm"), Text: text, Form: &form{Action: r.URL.Path, Button: to.text("button_confirm")},
		})
	}
}

// verify checks the token of a confirmation mail. For a test mail it returns errPreview.
func (p *Forms) verify(r *http.Request) (track.Token, person, error) {
	to := personOf(r, nil)
	t, err := p.Keys.Verify(track.Confirm, r.PathValue("token"))
	if err == nil && t.Preview {
		err = errPreview
	}
	if err != nil {
		return t, to, err
	}
	account, err := tenant.ByID(r.Context(), p.DB, t.Tenant)
	if err == nil && account.Status == tenant.Deleted {
		err = tenant.ErrNotFound
	}
	if err == nil {
		to = personOf(r, &account)
	}
	return t, to, err
}

func (p *Forms) confirm(w http.ResponseWriter, r *http.Request) {
	t, to, err := p.verify(r)
	if err != nil {
		p.refuseConfirmation(w, r, to, err)
		return
	}
	s, err := p.Intake.Confirm(r.Context(), t.Tenant, t.Message, p.ClientIP(r).Unmap().WithZone("").String(), r.UserAgent(), p.Now())
	if err != nil {
		p.refuseConfirmation(w, r, to, err)
		return
	}
	if s.RedirectURL != "" {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Location", s.RedirectURL)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	to.page(w, r, http.StatusOK, "title_confirmed", "text_confirmed")
}

// refuseConfirmation writes the page for a link that cannot be confirmed.
func (p *Forms) refuseConfirmation(w http.ResponseWriter, r *http.Request, to person, err error) {
	switch {
	case errors.Is(err, errPreview):
		to.page(w, r, http.StatusOK, "title_test", "text_test")
	case errors.Is(err, tenant.ErrNotFound):
		to.page(w, r, http.StatusGone, "title_gone", "text_gone")
	case errors.Is(err, track.ErrBadToken), errors.Is(err, forms.ErrNoSubmission), errors.Is(err, forms.ErrExpired):
		to.page(w, r, http.StatusNotFound, "title_not_found", "text_expired")
	default:
		p.Log.Error("confirmation failed", "err", err)
		to.page(w, r, http.StatusServiceUnavailable, "title_error", "text_error")
	}
}
