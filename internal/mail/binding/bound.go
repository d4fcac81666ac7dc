package binding

import "github.com/packetboat/packetboat/internal/base/fault"

// The faults of schemas and bindings.
var (
	ErrSchema    = fault.New(fault.Invalid, "INVALID_SCHEMA", "the schema is malformed") // details: fault.Fields
	ErrLimit     = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "the schema declares too much")
	ErrReference = fault.New(fault.Invalid, "UNRESOLVED_REFERENCE", "a placeholder names something that is not declared") // details: References
	ErrBinding   = fault.New(fault.Invalid, "INVALID_BINDING", "the binding does not fit the template")                   // details: Issues
)

// References are the placeholders that refer to nothing declared.
type References struct {
	References []Reference `json:"references"`
}

// Reference is such a placeholder with its position.
type Reference struct {
	Token string `json:"token"`
	Field string `json:"field"` // content_html, content_mjml, content_text, subject, groups_schema[0].slots
	Line  int    `json:"line"`  // counted from 1; 0: not in a body
}

// Issues are the problems of a binding.
type Issues struct {
	Issues []Issue `json:"issues"`
}

// IssueCode is the kind of a problem of a binding.
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

// Warning is information for the author, which prevents nothing.
type Warning struct {
	Code    string `json:"code"`            // unused, or that of a trouble of content
	Path    string `json:"path"`            // parameters_schema[2], content_mjml
	Field   string `json:"field,omitempty"` // of a trouble of content: the path
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
	At      int    `json:"-"` // of a trouble of content: 1 + the offset of the element; 0: unknown
}

// Bound is a checked binding: everything that is declared has a value.
type Bound struct {
	Values map[string]Value              // by parameter
	Rows   map[string][]map[string]Value // by section
	Slots  map[string]Filling            // by slot
}

// Value is the value of a parameter.
type Value struct {
	Type Type
	V    any // string, json.Number, bool, []string; nil: nothing
}

// Filling is the content of a slot.
type Filling struct {
	Strategy Strategy
	Block    *Block // nil: empty, whatever the strategy
	Bound    Bound  // of the block
	Notice   string // in a preview, the text in place of a missing block: "[slot: hero]"
}
