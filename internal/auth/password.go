package auth

import (
	"context"
	_ "embed"
	"fmt"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"github.com/packetboat/packetboat/internal/fault"
)

// Bounds of a password, in characters.
const (
	minPassword = 10
	maxPassword = 200
)

// Passwords hashes and checks passwords with argon2id (RFC 9106). At most two
// at once: each takes 19 MiB and a core.
type Passwords struct {
	turns chan struct{}
	decoy string // compared with when there is no such user, so that time does not tell
}

// params are those that OWASP names as the least for argon2id.
var params = argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// NewPasswords returns a hasher for the whole process.
func NewPasswords() *Passwords {
	return &Passwords{
		turns: make(chan struct{}, 2),
		decoy: "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	}
}

func (p *Passwords) turn(ctx context.Context) (done func(), err error) {
	select {
	case p.turns <- struct{}{}:
		return func() {
			runtime.GC() // or the next one's memory would come on top, and stay with the process
			<-p.turns
		}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Hash returns what is kept of a password.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	done, err := p.turn(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	h, err := argon2id.CreateHash(password, &params)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	return h, nil
}

// Check reports whether hash is of password. An empty hash is of none, and
// finding that out takes as long.
func (p *Passwords) Check(ctx context.Context, password, hash string) (bool, error) {
	if utf8.RuneCountInString(password) > maxPassword {
		return false, nil
	}
	done, err := p.turn(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	known := hash != ""
	if !known {
		hash = p.decoy
	}
	same, err := argon2id.ComparePasswordAndHash(password, hash)
	if err != nil {
		return false, fmt.Errorf("check password: %w", err)
	}
	return same && known, nil
}

//go:embed common-passwords.txt
var commonPasswords string

// CheckNewPassword adds a problem at path unless password may be chosen.
// About holds what an attacker tries first: the user's address and name.
func CheckNewPassword(p *fault.Problems, path, password string, about ...string) {
	switch n := utf8.RuneCountInString(password); {
	case password == "":
		p.Add(path, "required")
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		p.Add(path, "must be text")
	case n < minPassword:
		p.Add(path, fmt.Sprintf("must have at least %d characters", minPassword))
	case n > maxPassword:
		p.Add(path, fmt.Sprintf("must have at most %d characters", maxPassword))
	case common(password, about):
		p.Add(path, "is too easy to guess; use several words that do not belong together")
	}
}

// unleet undoes the usual disguises.
var unleet = strings.NewReplacer("0", "o", "1", "l", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i")

// common reports whether a password is on the list, as it is or with a few
// digits and signs around it or in place of letters; is one of few characters;
// or is what the caller says about the user.
func common(password string, about []string) bool {
	s := strings.ToLower(password)
	kinds := map[rune]bool{}
	for _, r := range s {
		kinds[r] = true
	}
	if len(kinds) < 4 {
		return true
	}
	for _, a := range about {
		a = strings.ToLower(a)
		local, _, _ := strings.Cut(a, "@")
		if s == a || s == local {
			return true
		}
	}
	core := strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	words := []string{s, core, unleet.Replace(s), unleet.Replace(core), strings.TrimFunc(unleet.Replace(s), func(r rune) bool { return !unicode.IsLetter(r) })}
	for line := range strings.Lines(commonPasswords) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for _, w := range words {
			if w == line || w == line+line {
				return true
			}
		}
	}
	return false
}
