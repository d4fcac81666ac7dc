package mjml

import "testing"

func BenchmarkCompile(b *testing.B) {
	c := open(b)
	all := documents(b)
	for _, tt := range []struct {
		name, source string
		cached       bool
	}{
		{"small", all["no-head"], false},
		{"large", all["newsletter"], false},
		{"cached", all["newsletter"], true},
	} {
		b.Run(tt.name, func(b *testing.B) {
			if _, err := c.Compile(b.Context(), "owner", tt.source); err != nil { // opens the interpreter
				b.Fatal(err)
			}
			b.SetBytes(int64(len(tt.source)))
			for b.Loop() {
				if !tt.cached {
					c.cache.clear()
				}
				if _, err := c.Compile(b.Context(), "owner", tt.source); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			m, err := openMachine(maxTime)
			if err != nil {
				b.Fatal(err)
			}
			m.close()
		}
	})
	b.Run("check", func(b *testing.B) {
		source := all["newsletter"]
		b.SetBytes(int64(len(source)))
		for b.Loop() {
			if _, err := Check(source); err != nil {
				b.Fatal(err)
			}
		}
	})
}
