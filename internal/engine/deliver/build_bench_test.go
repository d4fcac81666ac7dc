package deliver

import (
	"fmt"
	"testing"
	"time"

	bench "github.com/packetboat/packetboat/bench/site"
	"github.com/packetboat/packetboat/internal/content/content"
)

// BenchmarkBuild builds the mails of a broadcast's recipients, without the DKIM signature: in one
// worker, and in as many as a lane may have, whose memory does not fit into the processor's caches.
func BenchmarkBuild(b *testing.B) {
	draft, err := content.Draft(content.Source{Subject: "News for {{ first_name }}", HTML: bench.HTML(), Tracking: true})
	if err != nil {
		b.Fatal(err)
	}
	for _, workers := range []int{1, 64} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			j := sampleJob(b)
			j.content, j.contact.City = draft, new("Köln")
			e := sampleEngine(b, time.Date(2026, 3, 2, 9, 30, 15, 0, time.UTC))
			builders := make([]*builder, workers)
			for i := range builders {
				builders[i] = newBuilder(e)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				j.item.FirstAt = nil
				raw, err := builders[i%workers].build(j)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(raw)))
			}
		})
	}
}
