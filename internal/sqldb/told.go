package sqldb

import "context"

// teller is the key of what Tell was given.
type teller struct{}

// Tell returns a context whose queries are told of before they run: their texts,
// as the dialect's own, and their parameters. It is for whoever wants to see
// how the database goes about them.
func Tell(ctx context.Context, to func(text string, args []any)) context.Context {
	return context.WithValue(ctx, teller{}, to)
}

func (db *DB) tell(ctx context.Context, text string, args []any) {
	to, ok := ctx.Value(teller{}).(func(string, []any))
	if !ok {
		return
	}
	if db.dialect == SQLite {
		text = translated(text).sqlite
	}
	to(text, args)
}
