package mjml

import (
	"context"
	"slices"
)

// CheckFragment says whether a source can be put into a document where a child
// of mj-body or one of mj-column may stand. Placeholders may stand in it as in
// Check. Errors and warnings are Compile's, with the lines of the fragment.
func CheckFragment(ctx context.Context, c *Compiler, owner, source string) ([]Warning, error) {
	i, err := inspect(source, true)
	if err != nil {
		return nil, err
	}
	before, after := "<mjml><mj-body>", "</mj-body></mjml>"
	if misplaced := outside(inBody, i.top); misplaced != nil {
		if other := outside(inColumn, i.top); other != nil {
			return nil, neither(misplaced, other)
		}
		before += "<mj-section><mj-column>"
		after = "</mj-column></mj-section>" + after
	}
	r, err := c.Compile(ctx, owner, before+source+after)
	if err != nil {
		return nil, err
	}
	return r.Warnings, nil
}

// outside returns the first of elements that is not among those allowed.
func outside(allowed []string, elements []Element) *Element {
	for n := range elements {
		if !slices.Contains(allowed, elements[n].Tag) {
			return &elements[n]
		}
	}
	return nil
}

// neither says that a fragment fits neither into mj-body nor into mj-column; the
// elements are the first that do not.
func neither(body, column *Element) error {
	const why = " can stand neither in mj-body nor in mj-column"
	if body.Tag == column.Tag {
		return &Error{body.Line, "<" + body.Tag + ">" + why}
	}
	later := body
	if column.Line > body.Line {
		later = column
	}
	return &Error{later.Line, "<" + column.Tag + "> and <" + body.Tag + "> stand side by side: one belongs in mj-body, the other in mj-column"}
}
