package deliver

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// A worker gets jobs for its own site first, in order, and once a job is the oldest, it does not wait
// for more than a queue's length of others.
func TestJobsAreTakenBySiteAndInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const size = 8
		q := newJobQueue(size)
		sites := []*site{new(site), new(site), new(site)}
		var queued []*job
		waited := map[*job]int{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(queued) < size && (len(queued) == 0 || rapid.Bool().Draw(t, "put")) {
				j := &job{site: sites[rapid.IntRange(0, len(sites)-1).Draw(t, "of")]}
				if err := q.put(context.Background(), nil, j); err != nil {
					t.Fatal(err)
				}
				queued = append(queued, j)
				continue
			}
			at := append(sites, nil)[rapid.IntRange(0, len(sites)).Draw(t, "at")]
			<-q.ready
			got := q.take(at)
			place := -1
			for i, j := range queued {
				if j == got {
					place = i
				}
			}
			if place < 0 {
				t.Fatal("a job was taken twice")
			}
			for i, j := range queued[:place] {
				if j.site == at {
					t.Errorf("job %d was taken before job %d of the same site", place, i)
				}
			}
			if oldest := queued[0]; place > 0 {
				if waited[oldest]++; waited[oldest] > size {
					t.Errorf("%d jobs were taken before the oldest one", waited[oldest])
				}
			}
			if at == nil && place != 0 {
				t.Errorf("job %d was taken first", place)
			}
			queued = append(queued[:place], queued[place+1:]...)
			if q.len() != len(queued) {
				t.Errorf("%d jobs are queued, want %d", q.len(), len(queued))
			}
		}
	})
}

func TestAFullQueueTakesNoJobs(t *testing.T) {
	t.Parallel()
	q := newJobQueue(1)
	if err := q.put(t.Context(), nil, &job{}); err != nil {
		t.Fatal(err)
	}
	closing := make(chan struct{})
	close(closing)
	if err := q.put(t.Context(), closing, &job{}); !errors.Is(err, errLaneClosing) {
		t.Errorf("a lane that closes takes a job: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.put(ended, nil, &job{}); !errors.Is(err, context.Canceled) {
		t.Errorf("put after the end of its context: %v", err)
	}
}
