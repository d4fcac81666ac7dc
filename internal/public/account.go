package public

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/packetboat/packetboat/internal/auth"
	"github.com/packetboat/packetboat/internal/fault"
	"github.com/packetboat/packetboat/internal/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Accounts serves the pages about logins: signing up, choosing a password, accepting an invitation. Each
// shows a form and passes its values to auth.Login, as the operations of the API do. They need no script.
//
// A GET changes nothing, since programs that check mail follow links.
type Accounts struct {
	DB       *sqldb.DB
	Login    *auth.Login
	BaseURL  *url.URL
	Log      *slog.Logger
	Now      func() time.Time
	ClientIP func(*http.Request) netip.Addr // behind trusted proxies
}

// Routes adds the routes to mux.
func (a *Accounts) Routes(mux *http.ServeMux) {
	for path, p := range map[string]accountPage{
		"/signup":            {"setup_token", a.signUpForm, a.signUp},
		"/reset-password":    {"token", a.resetForm, a.reset},
		"/accept-invitation": {"token", a.acceptForm, a.accept},
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { a.get(w, r, p) })
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { a.post(w, r, p) })
	}
	mux.HandleFunc("GET /welcome", a.welcome)
}

// accountPage is one form and its action. form returns an error if the link is not valid; send returns the
// cookie of the session that it began, if any.
type accountPage struct {
	tokenName string
	form      func(ctx context.Context, token string) (accountView, error)
	send      func(r *http.Request, token string) (session string, err error)
}

func (a *Accounts) get(w http.ResponseWriter, r *http.Request, p accountPage) {
	a.showForm(w, r, p, r.URL.Query().Get(p.tokenName), nil)
}

// showForm shows the form, with the fault of the previous attempt.
func (a *Accounts) showForm(w http.ResponseWriter, r *http.Request, p accountPage, token string, refused *fault.Error) {
	v, err := p.form(r.Context(), token)
	if f, ok := fault.As(err); ok {
		v = showInvalidLink(r.URL.Path, f)
		if refused != nil && errors.Is(refused, auth.ErrTooOften) {
			f, v = refused, accountView{Title: "Too many attempts", Text: []string{"Please follow the link again later."}}
			retry(w, f)
		}
		a.show(w, r, statusOfForm(f), v)
		return
	}
	if err != nil {
		a.fail(w, r, err)
		return
	}
	v.Form.TokenName, v.Form.Token = p.tokenName, token
	v.Form.Action = r.URL.Path[1:]
	v.Form.Key = a.formKey(w, r)
	status := http.StatusOK
	if refused != nil {
		status = statusOfForm(refused)
		v.Form.fill(r.PostForm)
		v.refuse(refused)
		retry(w, refused)
	}
	a.show(w, r, status, v)
}

// maxAccountForm is the maximum size of the body of a form.
const maxAccountForm = 16 << 10

func (a *Accounts) post(w http.ResponseWriter, r *http.Request, p accountPage) {
	r.Body = http.MaxBytesReader(w, r.Body, maxAccountForm)
	if err := r.ParseForm(); err != nil {
		a.show(w, r, http.StatusBadRequest, accountView{Title: "That did not work", Text: []string{"The form could not be read. Please follow the link again."}})
		return
	}
	if !a.isOwnForm(r) {
		a.show(w, r, http.StatusForbidden, accountView{Title: "Refused", Text: []string{"The form was sent from another site, or its page was open for too long. Please follow the link again."}})
		return
	}
	token := r.PostForm.Get(p.tokenName)
	session, err := p.send(r, token)
	if f, ok := fault.As(err); ok && !errors.Is(err, auth.ErrInvalidToken) && !errors.Is(err, auth.ErrSignupDisabled) {
		a.showForm(w, r, p, token, f)
		return
	} else if ok {
		a.show(w, r, statusOfForm(f), showInvalidLink(r.URL.Path, f))
		return
	}
	if err != nil {
		a.fail(w, r, err)
		return
	}
	if session != "" {
		http.SetCookie(w, auth.SessionCookie(a.BaseURL, session))
	}
	w.Header().Set("Location", "welcome") // relative, so that it works behind a proxy
	w.Header().Set("Referrer-Policy", "no-referrer")
	common(w.Header())
	w.WriteHeader(http.StatusSeeOther)
}

// showInvalidLink returns the page for a link that is not valid: why, and what to do.
func showInvalidLink(path string, err *fault.Error) accountView {
	if errors.Is(err, auth.ErrSignupDisabled) {
		return accountView{Title: "Sign-up is off", Text: []string{"Ask a colleague for an invitation, or the operator for a login."}}
	}
	next := map[string]string{
		"/signup":            "As long as no user exists, each start of packetboat logs a new link.",
		"/reset-password":    "Ask the operator for a new one: packetboat user reset-password prints it.",
		"/accept-invitation": "Ask the person who invited you for a new one.",
	}[path]
	return accountView{Title: "This link is not valid any more", Text: []string{"It was used before, or it is too old.", next}}
}

// formCookie is the name of the cookie with a value that our forms repeat.
const formCookie = "packetboat_form"

// formKey returns the value of that cookie, which it sets if it is missing.
func (a *Accounts) formKey(w http.ResponseWriter, r *http.Request) string {
	if c, err := r.Cookie(formCookie); err == nil && len(c.Value) == len(rand.Text()) {
		return c.Value
	}
	key := rand.Text()
	http.SetCookie(w, &http.Cookie{
		Name: formCookie, Value: key, Path: "/", MaxAge: int((24 * time.Hour).Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: a.BaseURL.Scheme == "https",
	})
	return key
}

// isOwnForm reports whether a form was sent from our own page. A page without referrer makes browsers send
// "Origin: null" (Fetch, "append a request Origin header"), and without TLS they do not send Sec-Fetch-Site.
// Then the form must repeat the cookie set by the page, which no other site can read or send.
func (a *Accounts) isOwnForm(r *http.Request) bool {
	if r.Header.Get("Origin") == "null" && r.Header.Get("Sec-Fetch-Site") == "" {
		c, err := r.Cookie(formCookie)
		return err == nil && c.Value != "" && subtle.ConstantTimeCompare([]byte(c.Value), []byte(r.PostForm.Get("form"))) == 1
	}
	protection := http.NewCrossOriginProtection()
	// A proxy may rewrite Host, so our own origin is compared, too.
	_ = protection.AddTrustedOrigin(a.BaseURL.Scheme + "://" + a.BaseURL.Host)
	return protection.Check(r) == nil
}

const passwordHint = "At least 10 characters; several words that do not belong together are best."

func (a *Accounts) signUpForm(ctx context.Context, token string) (accountView, error) {
	if err := a.Login.MaySignUp(ctx, token, a.Now()); err != nil {
		return accountView{}, err
	}
	return accountView{
		Title: "Sign up", Text: []string{"This makes a workspace and its owner's login."},
		Form: &accountForm{Button: "Sign up", Fields: []accountField{
			{Name: "tenant_name", Label: "Name of the workspace", Type: "text", Autocomplete: "organization", Hint: "Your company or team, such as Acme Ltd."},
			{Name: "tenant_slug", Label: "Short name", Type: "text", Autocomplete: "off", Hint: "3 to 40 small letters, digits and hyphens, such as acme. It is part of every address of the API, and stays."},
			{Name: "name", Label: "Your name", Type: "text", Autocomplete: "name"},
			{Name: "email", Label: "Your email address", Type: "email", Autocomplete: "username"},
			{Name: "password", Label: "Password", Type: "password", Autocomplete: "new-password", Hint: passwordHint},
		}},
	}, nil
}

func (a *Accounts) signUp(r *http.Request, token string) (string, error) {
	f := r.PostForm
	e, err := a.Login.SignUp(r.Context(), auth.SignUp{
		TenantName: f.Get("tenant_name"), TenantSlug: f.Get("tenant_slug"),
		Name: f.Get("name"), Email: f.Get("email"), Password: f.Get("password"), SetupToken: token,
	}, a.ClientIP(r), a.Now())
	return e.Token, err
}

func (a *Accounts) resetForm(ctx context.Context, token string) (accountView, error) {
	email, err := a.Login.ResetOf(ctx, token, a.Now())
	if err != nil {
		return accountView{}, err
	}
	return accountView{
		Title: "Choose a password", Text: []string{"All sessions of this login end."},
		Form: &accountForm{Button: "Save the password", Fields: []accountField{
			loginField(email),
			{Name: "password", Label: "New password", Type: "password", Autocomplete: "new-password", Hint: passwordHint},
		}},
	}, nil
}

// loginField shows the address of the login, for the user and for password managers.
func loginField(email string) accountField {
	return accountField{Name: "email", Label: "Login", Type: "email", Autocomplete: "username", Value: email, ReadOnly: true}
}

func (a *Accounts) reset(r *http.Request, token string) (string, error) {
	return "", a.Login.Reset(r.Context(), token, r.PostForm.Get("password"), a.ClientIP(r), a.Now())
}

func (a *Accounts) acceptForm(ctx context.Context, token string) (accountView, error) {
	in, err := a.Login.InvitationOf(ctx, token, a.Now())
	if err != nil {
		return accountView{}, err
	}
	v := accountView{
		Title: "Accept the invitation", Text: []string{"You are invited to work in " + in.Tenant + ", as " + string(in.Role) + "."},
		Form: &accountForm{Button: "Accept", Fields: []accountField{loginField(in.Email)}},
	}
	name := accountField{Name: "name", Label: "Your name", Type: "text", Autocomplete: "name"}
	choose := accountField{Name: "password", Label: "Password", Type: "password", Autocomplete: "new-password", Hint: passwordHint}
	switch {
	case !in.NewPassword:
		v.Form.Fields = append(v.Form.Fields, accountField{
			Name: "password", Label: "Password", Type: "password", Autocomplete: "current-password", Hint: "The one that you sign in with.",
		})
	case in.Known:
		name.Value = in.Name
		choose.Hint = "If you have signed in with this address before, give that password, and you keep your other workspaces. Otherwise choose one of at least 10 characters."
		fallthrough
	default:
		v.Form.Fields = append(v.Form.Fields, name, choose)
	}
	return v, nil
}

func (a *Accounts) accept(r *http.Request, token string) (string, error) {
	e, err := a.Login.Accept(r.Context(), token, r.PostForm.Get("name"), r.PostForm.Get("password"), a.ClientIP(r), a.Now())
	return e.Token, err
}

// welcomeView is the page after a form.
type welcomeView struct {
	SignedIn   bool
	Tenants    []auth.Membership
	Mailbox    bool
	KeyCommand string
}

// welcome serves the page to which every form leads.
func (a *Accounts) welcome(w http.ResponseWriter, r *http.Request) {
	v := accountView{Title: "Your password is saved", Text: []string{"Every older session of the login has ended."}, Welcome: &welcomeView{Mailbox: true}}
	cookie, err := r.Cookie(auth.CookieName)
	if err == nil && cookie.Value != "" {
		s, err := auth.FindSession(r.Context(), a.DB, cookie.Value, a.Now())
		if err == nil {
			v.Title, v.Text = "You are signed in", []string{"As " + s.User.Email + "."}
			v.Welcome, err = a.next(r.Context(), s)
		}
		if err != nil && !errors.Is(err, auth.ErrNoSession) {
			a.fail(w, r, err)
			return
		}
	}
	a.show(w, r, http.StatusOK, v)
}

// next finds out what the signed-in user can do.
func (a *Accounts) next(ctx context.Context, s auth.Session) (*welcomeView, error) {
	v := &welcomeView{SignedIn: true}
	var err error
	if v.Tenants, err = auth.Memberships(ctx, a.DB, s.User.ID); err != nil {
		return nil, err
	}
	for _, t := range v.Tenants {
		if v.KeyCommand == "" && t.Role.AtLeast(auth.Admin) {
			v.KeyCommand = "packetboat apikey create --tenant " + t.Slug + " --name first --scopes all"
		}
		if v.Mailbox {
			continue
		}
		lanes, err := lane.List(ctx, a.DB, t.Tenant)
		if err != nil {
			return nil, err
		}
		for _, l := range lanes {
			v.Mailbox = v.Mailbox || l.Type == lane.Sink
		}
	}
	return v, nil
}
