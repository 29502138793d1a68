package ledger

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// maxWorkers bounds the processors that one call uses.
const maxWorkers = 8

// spreadMin is the number of calls per worker that makes a worker worth it.
const spreadMin = 16

// spread calls fn for 0 to n-1, on several processors if n is not small.
func spread(n int, fn func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers, n/spreadMin)
	if workers < 2 {
		for i := range n {
			fn(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				fn(i)
			}
		})
	}
	wg.Wait()
}
