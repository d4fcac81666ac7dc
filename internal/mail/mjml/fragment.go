package mjml

import (
	"context"
	"slices"
)

// CheckFragment checks that a source can be a child of mj-body or of mj-column. Placeholders are
// allowed as in Check. Errors and warnings are those of Compile, with the lines of the fragment.
func CheckFragment(ctx context.Context, c *Compiler, owner, source string) ([]Warning, error) {
	document, err := FragmentDocument(source)
	if err != nil {
		return nil, err
	}
	r, err := c.Compile(ctx, owner, document)
	if err != nil {
		return nil, err
	}
	return r.Warnings, nil
}

// FragmentDocument returns a document that consists of a fragment, with the same lines. The error is that
// of Check, or an *Error if the fragment can be a child neither of mj-body nor of mj-column.
func FragmentDocument(source string) (string, error) {
	i, err := inspect(source, true)
	if err != nil {
		return "", err
	}
	before, after := "<mjml><mj-body>", "</mj-body></mjml>"
	if misplaced := firstNotAllowed(inBody, i.top); misplaced != nil {
		if other := firstNotAllowed(inColumn, i.top); other != nil {
			return "", fragmentError(misplaced, other)
		}
		before += "<mj-section><mj-column>"
		after = "</mj-column></mj-section>" + after
	}
	return before + source + after, nil
}

// firstNotAllowed returns the first element that is not allowed.
func firstNotAllowed(allowed []string, elements []Element) *Element {
	for n := range elements {
		if !slices.Contains(allowed, elements[n].Tag) {
			return &elements[n]
		}
	}
	return nil
}

// fragmentError returns the error for a fragment that fits neither into mj-body nor into mj-column, given
// the first element that does not fit for each.
func fragmentError(body, column *Element) error {
	const why = " can stand neither in mj-body nor in mj-column"
	if body.Tag == column.Tag {
		return &Error{body.Line, body.Column, "<" + body.Tag + ">" + why}
	}
	later := body
	if column.Line > body.Line {
		later = column
	}
	return &Error{later.Line, later.Column, "<" + column.Tag + "> and <" + body.Tag + "> stand side by side: one belongs in mj-body, the other in mj-column"}
}
