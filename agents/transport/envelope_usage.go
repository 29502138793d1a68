package transport

import (
	"encoding/json"
	"math/big"
	"strings"
)

// number is a number of a report as it was written. What is absent, no number,
// negative or beyond what a counter holds stays unknown.
type number struct{ json.Number }

// UnmarshalJSON implements [json.Unmarshaler]; what is no number is unknown, and
// spoils nothing else of the report.
func (n *number) UnmarshalJSON(b []byte) error {
	n.Number = ""
	if len(b) > 0 && len(b) <= maxNumber && (b[0] == '-' || '0' <= b[0] && b[0] <= '9') {
		n.Number = json.Number(b)
	}
	return nil
}

// maxNumber bounds the digits of a number, and maxExponent its magnitude, so
// that none takes long to read.
const (
	maxNumber   = 64
	maxExponent = 30
)

// rat is the number's exact value.
func (n number) rat() (*big.Rat, bool) {
	s := string(n.Number)
	if s == "" {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		exponent, ok := new(big.Int).SetString(s[i+1:], 10)
		if !ok || new(big.Int).Abs(exponent).Cmp(big.NewInt(maxExponent)) > 0 {
			return nil, false
		}
	}
	r, ok := new(big.Rat).SetString(s)
	return r, ok && r.Sign() >= 0
}

// maxCount bounds tokens and micro-dollars: more than a run can use, and so few
// that a record holds them and the sum over a log does not overflow.
const maxCount = 1_000_000_000_000

// counted is a number that can be one.
func counted(n *big.Int) *int64 {
	if !n.IsInt64() || n.Int64() < 0 || n.Int64() > maxCount {
		return nil
	}
	return new(n.Int64())
}

// count is a whole number.
func (n number) count() *int64 {
	r, ok := n.rat()
	if !ok || !r.IsInt() {
		return nil
	}
	return counted(r.Num())
}

// micros is the number times scale, rounded to a whole one, half away from zero.
func (n number) micros(scale *big.Rat) *int64 {
	r, ok := n.rat()
	if !ok {
		return nil
	}
	r.Mul(r, scale)
	// floor(r + 1/2), exactly.
	twice := new(big.Int).Lsh(r.Num(), 1)
	twice.Add(twice, r.Denom())
	return counted(twice.Quo(twice, new(big.Int).Lsh(r.Denom(), 1)))
}

// Units of cost in micro-dollars.
var (
	perDollar = big.NewRat(1_000_000, 1)
	perTick   = big.NewRat(1, 10_000) // of which a dollar has 1e10
)

// add is the sum of what is known, nil if nothing is.
func add(a, b *int64) *int64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return counted(big.NewInt(*a + *b))
}
