package sink

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// auth answers AUTH (RFC 4954) for the one user there is.
func (c *session) auth(arg string) error {
	if c.srv.opts.User == "" || !c.helloSaid || c.loggedIn {
		c.reply("503 5.5.1 no AUTH now")
		return nil
	}
	if replied, err := c.applyRules(Auth); replied || err != nil {
		return err
	}
	mechanism, initial, _ := strings.Cut(arg, " ")
	var ok bool
	var err error
	switch strings.ToUpper(mechanism) {
	case "PLAIN":
		ok, err = c.plain(initial)
	case "LOGIN":
		ok, err = c.login(initial)
	case "CRAM-MD5":
		ok, err = c.cramMD5()
	default:
		c.reply("504 5.5.4 unknown mechanism")
		return nil
	}
	switch {
	case err != nil:
		return err
	case ok:
		c.loggedIn = true
		c.reply("235 2.7.0 welcome")
	default:
		c.reply("535 5.7.8 wrong user or password")
	}
	return nil
}

func (c *session) plain(initial string) (bool, error) {
	answer, err := c.orAsk(initial, "")
	return answer == "\x00"+c.srv.opts.User+"\x00"+c.srv.opts.Password, err
}

func (c *session) login(initial string) (bool, error) {
	user, err := c.orAsk(initial, "Username:")
	if err != nil {
		return false, err
	}
	password, err := c.orAsk("", "Password:")
	return user == c.srv.opts.User && password == c.srv.opts.Password, err
}

func (c *session) cramMD5() (bool, error) {
	challenge := "<" + rand.Text() + "@sink.invalid>"
	answer, err := c.orAsk("", challenge)
	mac := hmac.New(md5.New, []byte(c.srv.opts.Password))
	mac.Write([]byte(challenge))
	return answer == c.srv.opts.User+" "+hex.EncodeToString(mac.Sum(nil)), err
}

// orAsk decodes what the client sent along or, if that was nothing, what it
// answers to a challenge.
func (c *session) orAsk(sent, challenge string) (string, error) {
	if sent == "" {
		c.reply("334 " + base64.StdEncoding.EncodeToString([]byte(challenge)))
		line, err := c.readLine()
		if err != nil {
			return "", err
		}
		sent = string(line)
	}
	answer, err := base64.StdEncoding.DecodeString(sent)
	if err != nil {
		return "", nil // a wrong answer, not a broken connection
	}
	return string(answer), nil
}
