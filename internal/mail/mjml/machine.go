package mjml

import (
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"modernc.org/quickjs"
)

// The limits of one document, and of reading the compiler's own script.
const (
	maxTime   = 2 * time.Second * patience // of processor time, see watch
	maxMemory = 64 << 20
	loadTime  = time.Minute * patience
)

// dist holds the compiler, when scripts/mjml was there.
//
//go:embed dist
var dist embed.FS

// prelude is the world that the compiler runs in.
//
//go:embed prelude.js
var prelude string

// scriptName returns the file of the compiler, "" when there is none.
func scriptName() string {
	names, err := fs.Glob(dist, "dist/mjml-browser-*.js.gz")
	if err != nil || len(names) == 0 {
		return ""
	}
	return names[0]
}

// readScript returns the compiler.
func readScript() (string, error) {
	name := scriptName()
	if name == "" {
		return "", ErrUnavailable
	}
	f, err := dist.Open(name)
	if err != nil {
		return "", fmt.Errorf("mjml: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", fmt.Errorf("mjml: %s: %w", name, err)
	}
	var script strings.Builder
	script.Grow(3 << 19) // it has 1.3 MB
	if _, err := io.Copy(&script, z); err != nil {
		return "", fmt.Errorf("mjml: %s: %w", name, err)
	}
	return script.String(), nil
}

// machine is an interpreter that has read the compiler. It serves one goroutine
// at a time; only interrupt may be called from others.
type machine struct{ vm *quickjs.VM }

// openMachine returns a new interpreter, which stops documents that take longer
// than maxWait times the limit regardless of the cause.
func openMachine(limit time.Duration) (*machine, error) {
	script, err := readScript()
	if err != nil {
		return nil, err
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("mjml: open the interpreter: %w", err)
	}
	m := &machine{vm}
	vm.SetMemoryLimit(maxMemory)
	if err := errors.Join(vm.SetEvalTimeout(loadTime), m.eval(prelude), m.eval(script), m.eval("packetboat.seal()"), vm.SetEvalTimeout(maxWait*limit)); err != nil {
		m.close()
		return nil, fmt.Errorf("mjml: read the compiler: %w", err)
	}
	return m, nil
}

// eval runs a script for what it leaves behind.
func (m *machine) eval(script string) error {
	v, err := m.vm.EvalValue(script, quickjs.EvalGlobal)
	if err == nil {
		v.Free()
	}
	return err
}

// output is what the compiler answers.
type output struct {
	HTML     string `json:"html"`
	Findings []struct {
		Line    int    `json:"line"`
		Tag     string `json:"tag"`
		Message string `json:"message"`
	} `json:"findings"`
}

// compile runs the compiler.
func (m *machine) compile(source string) (output, error) {
	answer, err := m.vm.Call("packetboat.compile", source)
	if err != nil {
		return output{}, err
	}
	text, ok := answer.(string)
	if !ok {
		return output{}, fmt.Errorf("mjml: the compiler answered a %T", answer)
	}
	var o output
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return output{}, fmt.Errorf("mjml: the compiler's answer: %w", err)
	}
	return o, nil
}

func (m *machine) interrupt() { m.vm.Interrupt() }
func (m *machine) close()     { _ = m.vm.Close() }
