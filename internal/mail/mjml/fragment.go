package mjml

import "context"

// CheckFragment says whether a source can stand in mj-body or in mj-column.
func CheckFragment(ctx context.Context, c *Compiler, source string) ([]Warning, error) {
	return nil, nil
}
