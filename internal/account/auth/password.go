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

	"github.com/packetboat/packetboat/internal/base/fault"
)

// Limits of a password's length, in characters.
const (
	minPassword = 10
	maxPassword = 200
)

// Passwords hashes and checks passwords with argon2id (RFC 9106), at most two at a time, since each
// takes 19 MiB and a core.
type Passwords struct {
	turns chan struct{}
	decoy string // checked if there is no such user, so that the time is the same
}

// params are the minimum recommended by OWASP for argon2id.
var params = argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// NewPasswords returns a hasher; a process needs one.
func NewPasswords() *Passwords {
	return &Passwords{
		turns: make(chan struct{}, 2),
		decoy: "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	}
}

func (p *Passwords) acquireTurn(ctx context.Context) (done func(), err error) {
	select {
	case p.turns <- struct{}{}:
		return func() {
			runtime.GC() // otherwise the memory of the next hash is added, and stays allocated
			<-p.turns
		}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Hash returns the hash of a password for storage.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	done, err := p.acquireTurn(ctx)
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

// Check reports whether hash is that of password. An empty hash matches none, and takes the same
// time.
func (p *Passwords) Check(ctx context.Context, password, hash string) (bool, error) {
	if utf8.RuneCountInString(password) > maxPassword {
		return false, nil
	}
	done, err := p.acquireTurn(ctx)
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

// CheckNewPassword adds a problem at path if the password must not be chosen. About is what an
// attacker tries first: the user's address and name.
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
	case isCommonPassword(password, about):
		p.Add(path, "is too easy to guess; use several words that do not belong together")
	}
}

// replaceDigits reverses common substitutions of letters.
var replaceDigits = strings.NewReplacer("0", "o", "1", "l", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i")

// isCommonPassword reports whether a password is on the list of common ones, also with digits and signs
// around it or in place of letters; has fewer than four different characters; or equals the
// user's address or name.
func isCommonPassword(password string, about []string) bool {
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
	words := []string{s, core, replaceDigits.Replace(s), replaceDigits.Replace(core), strings.TrimFunc(replaceDigits.Replace(s), func(r rune) bool { return !unicode.IsLetter(r) })}
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
