package groupcommit

import "context"

// CommitTogether writes values in one batch, as Run does, and returns the error of each.
func (g *Group[T]) CommitTogether(ctx context.Context, values ...T) []error {
	batch := make([]grouped[T], len(values))
	for i, v := range values {
		batch[i] = grouped[T]{v, make(chan error, 1)}
	}
	g.flush(ctx, batch)
	errs := make([]error, len(values))
	for i, e := range batch {
		errs[i] = <-e.done
	}
	return errs
}
