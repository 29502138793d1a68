package place

import (
	"reflect"
	"testing"
)

func TestConfinement(t *testing.T) {
	for _, c := range []Confinement{
		{},
		{Network: true},
		{Write: []string{"/a b", "/tmp"}, Keep: []string{"/a b/.git"}, Network: true},
	} {
		if got, ok := ParseConfinement(c.String()); !ok || !reflect.DeepEqual(got, c) {
			t.Errorf("%q: %+v, %v", c.String(), got, ok)
		}
	}
	for _, text := range []string{"", "1", "2\n", "1\nwrite", "1\nwrite \n", "1\nwrite a\n", "1\nnetwork x\n", "1\nother /a\n", "1\n\n", "1\nwrite /a"} {
		if got, ok := ParseConfinement(text); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
