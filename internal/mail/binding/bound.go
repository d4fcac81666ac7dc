package binding

import "github.com/packetboat/packetboat/internal/fault"

// The faults of schemas and bindings.
var (
	ErrSchema    = fault.New(fault.Invalid, "INVALID_SCHEMA", "the schema is malformed") // details: fault.Fields
	ErrLimit     = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "the schema declares too much")
	ErrReference = fault.New(fault.Invalid, "UNRESOLVED_REFERENCE", "a placeholder names something that is not declared") // details: References
	ErrBinding   = fault.New(fault.Invalid, "INVALID_BINDING", "the binding does not fit the template")                   // details: Issues
)

// References are the placeholders that name nothing declared.
type References struct {
	References []Reference `json:"references"`
}

// Reference is such a placeholder, where it stands.
type Reference struct {
	Token string `json:"token"`
	Field string `json:"field"` // content_html, content_mjml, content_text, subject, groups_schema[0].slots
	Line  int    `json:"line"`  // counted from 1; 0: it stands in no body
}

// Issues are what is wrong with a binding.
type Issues struct {
	Issues []Issue `json:"issues"`
}

// IssueCode says what sort of problem a binding has (spec 4.2).
type IssueCode string

// The codes.
const (
	UnknownParam     IssueCode = "unknown_param"
	UnknownSection   IssueCode = "unknown_section"
	UnknownSlot      IssueCode = "unknown_slot"
	RequiredMissing  IssueCode = "required_missing"
	InvalidType      IssueCode = "invalid_type"
	MinRows          IssueCode = "min_rows"
	MaxRows          IssueCode = "max_rows"
	InvalidStrategy  IssueCode = "invalid_strategy"
	BlockNotEligible IssueCode = "block_not_eligible"
	Shape            IssueCode = "shape"
)

// Issue is one problem of a binding.
type Issue struct {
	Path    string    `json:"path"` // sections.products[2].price; empty: the whole binding
	Code    IssueCode `json:"code"`
	Message string    `json:"message"`
	Fix     string    `json:"fix"` // one imperative sentence
}

// Warning is something an author may want to know; it stops nothing.
type Warning struct {
	Code    string `json:"code"`            // unused, mjml, LIQUID_MAY_FAIL
	Path    string `json:"path"`            // parameters_schema[2], content_mjml
	Field   string `json:"field,omitempty"` // of LIQUID_MAY_FAIL: the path
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// Bound is a binding held to its schema: each declared thing has a value.
type Bound struct {
	Values map[string]Value              // by parameter
	Rows   map[string][]map[string]Value // by section
	Slots  map[string]Filling            // by slot
}

// Value is what a parameter holds.
type Value struct {
	Type Type
	V    any // string, json.Number, bool, []string; nil: nothing
}

// Filling is what a slot holds.
type Filling struct {
	Strategy Strategy
	Block    *Block // nil: empty, whatever the strategy
	Bound    Bound  // of the block
	Notice   string // instead of a block, when a preview lacks one: "[slot: hero]"
}
