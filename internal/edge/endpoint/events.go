package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// EventStream is a response of server-sent events (WHATWG HTML, section 9.2). It is neither compressed nor
// buffered.
type EventStream struct {
	// Run sends events until the stream ends. The context ends when the caller disconnects.
	Run func(ctx context.Context, w *EventWriter)
}

// Events is the media type of an EventStream.
const Events = "text/event-stream"

// eventTimeout is how long the caller may take to accept an event.
const eventTimeout = 30 * time.Second

// EventWriter sends events. Before each, it checks that the caller may still receive them: the session may
// have ended, or the user's membership or role may have changed. After an error the stream ends.
type EventWriter struct {
	x   *call
	out *http.ResponseController
}

// errEnded means that the caller may not receive events any more.
var errEnded = errors.New("the session has ended, or its user's role has changed")

// checkTimeout is how long a check of the caller may take.
const checkTimeout = 10 * time.Second

func (e *EventWriter) checkCaller() error {
	ctx, cancel := context.WithTimeout(e.x.ctx, checkTimeout)
	defer cancel()
	holds, err := e.x.router.Gate.Holds(ctx, e.x.principal)
	if err == nil && !holds {
		err = errEnded
	}
	return err
}

// Send sends an event with its data as JSON. id is the caller's position after it.
func (e *EventWriter) Send(name, id string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("event: " + name + "\nid: " + id + "\ndata: ")
	b.Write(text)
	b.WriteString("\n\n")
	return e.write(b.Bytes())
}

// Comment sends a line that callers ignore and, unless it is empty, the caller's position.
func (e *EventWriter) Comment(text, id string) error {
	if id != "" {
		text += "\nid: " + id
	}
	return e.write([]byte(": " + text + "\n\n"))
}

func (e *EventWriter) write(b []byte) error {
	if err := e.checkCaller(); err != nil {
		return err
	}
	_ = e.out.SetWriteDeadline(time.Now().Add(eventTimeout)) // a recorder in a test has none
	if _, err := e.x.w.writeThrough(b); err != nil {
		return err
	}
	return e.out.Flush()
}

// writeEvents writes a stream, or only its headers for HEAD.
func (x *call) writeEvents(s EventStream) {
	h := x.w.Header()
	h.Set("Content-Type", Events)
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no") // for nginx
	x.w.status, x.w.headerSent = x.route.Status, true
	x.w.w.WriteHeader(x.w.status)
	if x.w.head {
		return
	}
	out := http.NewResponseController(x.w)
	_ = out.Flush()
	s.Run(x.ctx, &EventWriter{x, out})
}
