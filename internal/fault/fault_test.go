package fault

import (
	"errors"
	"testing"
)

func TestCode(t *testing.T) {
	plain := errors.New("disk on fire")
	tests := []struct {
		name string
		err  error
		code int
		text string
		try  string
	}{
		{"nil", nil, 0, "", ""},
		{"plain", plain, 1, "disk on fire", ""},
		{"usage", New(Usage, "no %s", "id"), 2, "no id", ""},
		{"refused with a way on", Try(New(Refused, "no seat"), "satelle story start"), 3, "no seat", "satelle story start"},
		{"not found", New(NotFound, "no such story"), 4, "no such story", ""},
		{"busy", Wrap(plain, Busy, "opening"), 5, "opening: disk on fire", ""},
		{"integrity", New(Integrity, "flipped"), 6, "flipped", ""},
		{"wrapping keeps the class", Wrap(New(NotFound, "gone"), nil, "reading"), 4, "reading: gone", ""},
		{"the first hint wins", Try(Try(New(Refused, "x"), "inner"), "outer"), 3, "x", "inner"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Code(tt.err); got != tt.code {
				t.Errorf("Code = %d, want %d", got, tt.code)
			}
			if tt.err != nil && tt.err.Error() != tt.text {
				t.Errorf("text = %q, want %q", tt.err.Error(), tt.text)
			}
			if got := TryOf(tt.err); tt.err != nil && got != tt.try {
				t.Errorf("TryOf = %q, want %q", got, tt.try)
			}
		})
	}
	if Wrap(nil, Busy, "x") != nil || Try(nil, "x") != nil {
		t.Error("nil must stay nil")
	}
}
