package transport

import (
	"encoding/json"
	"testing"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	n := func(i int64) *int64 { return &i }
	for _, tt := range []struct {
		json           string
		count, dollars *int64
	}{
		{`0`, n(0), n(0)},
		{`12`, n(12), n(12_000_000)},
		{`12.0`, n(12), n(12_000_000)},
		{`1e3`, n(1000), n(1_000_000_000)},
		{`0.0016`, nil, n(1600)},
		{`0.019999999999999997`, nil, n(20_000)},
		{`0.1`, nil, n(100_000)},
		{`0.0000005`, nil, n(1)},
		{`0.00000049999`, nil, n(0)},
		{`4.35`, nil, n(4_350_000)},
		{`1.005`, nil, n(1_005_000)},
		{`-1`, nil, nil},
		{`null`, nil, nil},
		{`"5"`, nil, nil},
		{`true`, nil, nil},
		{`{}`, nil, nil},
		{`[1]`, nil, nil},
		{`1000000`, n(1_000_000), n(1_000_000_000_000)},
		{`1000000.0000005`, nil, nil},
		{`1000000000000`, n(1_000_000_000_000), nil},
		{`1000000000001`, nil, nil},
		{`9223372036854775807`, nil, nil},
		{`9223372036854775808`, nil, nil},
		{`1e400`, nil, nil},
		{`1e-400`, nil, nil},
		{`1e99999999999999999999`, nil, nil},
	} {
		var v struct{ N number }
		if err := json.Unmarshal([]byte(`{"n":`+tt.json+`}`), &v); err != nil {
			t.Errorf("%s: %v", tt.json, err)
		}
		if got := v.N.count(); !same(got, tt.count) {
			t.Errorf("%s: count %v", tt.json, got)
		}
		if got := v.N.micros(perDollar); !same(got, tt.dollars) {
			t.Errorf("%s: micro-dollars %v", tt.json, got)
		}
	}
	if got := (number{"5000000"}).micros(perTick); !same(got, n(500)) {
		t.Errorf("ticks: %v", got)
	}
	if number.count(number{}) != nil || add(nil, nil) != nil || !same(add(n(1), nil), n(1)) || !same(add(n(1), n(2)), n(3)) || add(n(maxCount), n(1)) != nil {
		t.Error("sums of what is unknown")
	}
}

func same(a, b *int64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "1.5e3", "-1", "1e-30", "0.1", "1e31", "null"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var n number
		if json.Unmarshal(b, &n) != nil {
			return
		}
		for _, v := range []*int64{n.count(), n.micros(perDollar), n.micros(perTick)} {
			if v != nil && (*v < 0 || *v > maxCount) {
				t.Errorf("%q is %d", b, *v)
			}
		}
	})
}
