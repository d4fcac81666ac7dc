package endpoint

import (
	"io"
	"net/http"
)

// smallBody is the memory that reading a body begins with.
const smallBody = 4 << 10

// readAll reads a body of at most limit bytes. The memory it takes follows what
// has arrived, not what the header claims: it is doubled when it is full.
func (x *exchange) readAll(r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	most := limit + 1 // one more than may come, to see that it does
	if r.ContentLength >= 0 {
		most = r.ContentLength + 1
	}
	body := make([]byte, 0, min(most, smallBody))
	for {
		if len(body) == cap(body) {
			if int64(cap(body)) == most { // more came than was claimed
				most = limit + 1
			}
			grown := make([]byte, len(body), min(most, 2*int64(cap(body))))
			copy(grown, body)
			body = grown
		}
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > limit:
			return nil, tooLarge(limit)
		case err == io.EOF:
			x.arrived()
			return body, nil
		case err != nil && tooSlow(err):
			return nil, errTooSlow
		case err != nil:
			return nil, ErrJSON.Sayf("the body broke off").Because(err)
		}
	}
}
