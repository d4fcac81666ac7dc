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

// The limits of one document, and of reading the compiler's script.
const (
	maxTime   = 2 * time.Second * patience // of CPU time, see watch
	maxMemory = 64 << 20
	loadTime  = time.Minute * patience
)

// dist contains the compiler, if scripts/mjml was run.
//
//go:embed dist
var dist embed.FS

// prelude defines the environment of the compiler.
//
//go:embed prelude.js
var prelude string

// scriptName returns the file name of the compiler, "" if there is none.
func scriptName() string {
	names, err := fs.Glob(dist, "dist/mjml-browser-*.js.gz")
	if err != nil || len(names) == 0 {
		return ""
	}
	return names[0]
}

// readScript returns the source of the compiler.
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

// machine is an interpreter with the compiler loaded. It must not be used concurrently, except for
// interrupt.
type machine struct{ vm *quickjs.VM }

// openMachine returns a new interpreter, which stops documents that take longer than maxWait times
// the limit, whatever the reason.
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

// eval runs a script for its side effects.
func (m *machine) eval(script string) error {
	v, err := m.vm.EvalValue(script, quickjs.EvalGlobal)
	if err == nil {
		v.Free()
	}
	return err
}

// output is the compiler's result.
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
