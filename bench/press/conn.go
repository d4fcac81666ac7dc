// Package press makes HTTP requests as fast as a program answers them. Its client
// does little, since the program shares the machine with it.
package press

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// Conn is one keep-alive connection of a client that knows no more of HTTP/1.1
// than it needs: one request, its answer, the next request.
type Conn struct {
	net  *net.TCPConn
	in   []byte // what was read and not yet taken
	Keep bool   // whether bodies are kept
	Body []byte // of the last answer, if kept or an error
	Got  int    // bytes of the last answer's body
}

// Dial connects to HOST:PORT.
func Dial(address string) (*Conn, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &Conn{net: c.(*net.TCPConn), in: make([]byte, 0, 64<<10)}, nil
}

// Do sends a whole request and reads its answer.
func (c *Conn) Do(request []byte) (status int, err error) {
	if err := c.net.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return 0, err
	}
	if _, err := c.net.Write(request); err != nil {
		return 0, err
	}
	return c.readResponse()
}

var errFraming = errors.New("the answer is not framed as HTTP/1.1 should be")

func (c *Conn) readResponse() (int, error) {
	end := -1
	for from := 0; ; {
		if end = bytes.Index(c.in[from:], []byte("\r\n\r\n")); end >= 0 {
			end += from
			break
		}
		from = max(len(c.in)-3, 0)
		if err := c.readMore(); err != nil {
			return 0, err
		}
	}
	head := c.in[:end]
	if len(head) < 12 || !bytes.HasPrefix(head, []byte("HTTP/1.1 ")) {
		return 0, errFraming
	}
	status, err := strconv.Atoi(string(head[9:12]))
	if err != nil {
		return 0, errFraming
	}
	length := -1
	if v, ok := header(head, "Content-Length: "); ok {
		if length, err = strconv.Atoi(string(v)); err != nil {
			return 0, errFraming
		}
	}
	_, chunked := header(head, "Transfer-Encoding: ")
	if status == 204 || status == 304 {
		length = 0
	}
	c.consume(end + 4)
	c.Body = c.Body[:0]
	keep := c.Keep
	defer func() { c.Keep = keep }()
	c.Keep = keep || status >= 300 // errors are reported
	if chunked {
		return status, c.skipChunks()
	}
	if length < 0 {
		return 0, errFraming
	}
	return status, c.skipBody(length)
}

// header returns the value of a header as Go's server spells its name.
func header(head []byte, name string) ([]byte, bool) {
	for {
		i := bytes.Index(head, []byte(name))
		if i < 0 {
			return nil, false
		}
		if i > 1 && head[i-1] == '\n' {
			v := head[i+len(name):]
			if end := bytes.IndexByte(v, '\r'); end >= 0 {
				v = v[:end]
			}
			return v, true
		}
		head = head[i+len(name):]
	}
}

func (c *Conn) skipChunks() error {
	for {
		end := bytes.Index(c.in, []byte("\r\n"))
		if end < 0 {
			if err := c.readMore(); err != nil {
				return err
			}
			continue
		}
		n, err := strconv.ParseInt(string(c.in[:end]), 16, 32)
		if err != nil {
			return errFraming
		}
		c.consume(end + 2)
		if err := c.skipBody(int(n)); err != nil {
			return err
		}
		for len(c.in) < 2 {
			if err := c.readMore(); err != nil {
				return err
			}
		}
		c.consume(2)
		if n == 0 {
			return nil
		}
	}
}

// skipBody reads n bytes of a body.
func (c *Conn) skipBody(n int) error {
	c.Got += n
	for n > 0 {
		if len(c.in) == 0 {
			if err := c.readMore(); err != nil {
				return err
			}
		}
		part := min(n, len(c.in))
		if c.Keep {
			c.Body = append(c.Body, c.in[:part]...)
		}
		c.consume(part)
		n -= part
	}
	return nil
}

func (c *Conn) consume(n int) {
	if n == len(c.in) {
		c.in = c.in[:0]
		return
	}
	c.in = c.in[:copy(c.in, c.in[n:])]
}

func (c *Conn) readMore() error {
	if len(c.in) == cap(c.in) {
		return fmt.Errorf("%w: a head of more than %d bytes", errFraming, cap(c.in))
	}
	n, err := c.net.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	if n > 0 {
		return nil
	}
	return err
}

// Account is where requests go and as whom.
type Account struct {
	Address string // host:port
	Prefix  string // of every path
	Key     string
}

// Request appends a request to b; an empty body means none.
func (a Account) Request(b []byte, method, path string, body []byte) []byte {
	b = append(b, method...)
	b = append(b, ' ')
	b = append(b, a.Prefix...)
	b = append(b, path...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, a.Address...)
	b = append(b, "\r\nX-API-Key: "...)
	b = append(b, a.Key...)
	if len(body) > 0 {
		b = append(b, "\r\nContent-Type: application/json\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(len(body)), 10)
	}
	b = append(b, "\r\n\r\n"...)
	return append(b, body...)
}

// Close ends the connection.
func (c *Conn) Close() error { return c.net.Close() }
