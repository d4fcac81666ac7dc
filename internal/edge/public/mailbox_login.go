package public

import (
	"errors"
	"net/http"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
)

// maxForm is the maximum size of the body of a login form.
const maxForm = 8 << 10

// signIn begins a session for a user who filled in the form.
func (b *Mailbox) signIn(w http.ResponseWriter, r *http.Request) {
	if !b.checkOrigin(w, r) {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		b.refuse(w, r, http.StatusBadRequest, "That did not work", "The form could not be read. Please try again.")
		return
	}
	email := r.PostForm.Get("email")
	e, err := b.Login.SignIn(r.Context(), email, r.PostForm.Get("password"), auth.Client{IP: b.ClientIP(r), Agent: r.UserAgent()}, b.Now())
	if f, refused := fault.As(err); refused {
		status := http.StatusUnauthorized
		if errors.Is(err, auth.ErrTooOften) {
			status = http.StatusTooManyRequests
		}
		b.show(w, r, status, "signin.html", signInView{frameOf(r, "Sign in"), email, f.Message})
		return
	}
	if err != nil {
		b.fail(w, r, err)
		return
	}
	http.SetCookie(w, auth.SessionCookie(b.BaseURL, e.Token))
	http.Redirect(w, r, "./", http.StatusSeeOther)
}

// signOut ends the session.
func (b *Mailbox) signOut(w http.ResponseWriter, r *http.Request) {
	if !b.checkOrigin(w, r) {
		return
	}
	if cookie, err := r.Cookie(auth.CookieName); err == nil {
		s, err := auth.FindSession(r.Context(), b.DB, cookie.Value, b.Now())
		if err == nil {
			err = auth.EndSession(r.Context(), b.DB, s.ID)
		}
		if err != nil && !errors.Is(err, auth.ErrNoSession) {
			b.fail(w, r, err)
			return
		}
	}
	gone := auth.SessionCookie(b.BaseURL, "")
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	http.Redirect(w, r, "./", http.StatusSeeOther)
}

// checkOrigin reports whether a form was sent from our own page, and writes an error if not.
func (b *Mailbox) checkOrigin(w http.ResponseWriter, r *http.Request) bool {
	protection := http.NewCrossOriginProtection()
	// A proxy may rewrite Host, so our own origin is compared, too.
	_ = protection.AddTrustedOrigin(b.BaseURL.Scheme + "://" + b.BaseURL.Host)
	if err := protection.Check(r); err != nil {
		b.refuse(w, r, http.StatusForbidden, "Refused", "The form was sent from another site.")
		return false
	}
	return true
}
