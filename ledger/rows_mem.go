package ledger

import (
	"slices"
	"strings"
)

// memRows are rows in memory, for a replay that is only compared.
type memRows struct {
	buckets map[string]*memBucket
}

type memBucket struct {
	m    map[string][]byte
	keys []string // sorted; nil after a key came or went
}

func newMemRows() *memRows { return &memRows{buckets: make(map[string]*memBucket)} }

func (r *memRows) Get(bucket, key string) []byte {
	if b := r.buckets[bucket]; b != nil {
		return b.m[key]
	}
	return nil
}

func (r *memRows) Put(bucket, key string, value []byte) {
	b := r.buckets[bucket]
	if b == nil {
		b = &memBucket{m: make(map[string][]byte)}
		r.buckets[bucket] = b
	}
	if _, ok := b.m[key]; !ok {
		b.keys = nil
	}
	b.m[key] = append([]byte{}, value...) // never nil: the row is there
}

func (r *memRows) Delete(bucket, key string) {
	if b := r.buckets[bucket]; b != nil {
		delete(b.m, key)
		b.keys = nil
	}
}

func (r *memRows) Each(bucket, prefix string, fn func(key string, value []byte) bool) {
	b := r.buckets[bucket]
	if b == nil {
		return
	}
	if b.keys == nil {
		for k := range b.m {
			b.keys = append(b.keys, k)
		}
		slices.Sort(b.keys)
	}
	i, _ := slices.BinarySearch(b.keys, prefix)
	for _, k := range b.keys[i:] {
		if !strings.HasPrefix(k, prefix) || !fn(k, b.m[k]) {
			return
		}
	}
}

// NewRows returns rows in memory, for a replay of a log apart from its file.
func NewRows() Rows { return newMemRows() }
