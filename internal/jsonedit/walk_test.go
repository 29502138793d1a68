package jsonedit

import (
	"fmt"
	"testing"
)

func TestWalk(t *testing.T) {
	doc := []byte(`{"hooks":{"Pre":[{"hooks":[1,"a"]},{"hooks":[]},{"hooks":[ {"b":2} ]}, {}]}}`)
	tests := []struct {
		path []string
		want string
	}{
		{handlerPath, `[0 0]=1 [0 1]="a" [2 0]={"b":2} `},
		{arrayPath, `[0]={"hooks":[1,"a"]} [1]={"hooks":[]} [2]={"hooks":[ {"b":2} ]} [3]={} `},
		{[]string{"hooks", "Post"}, ""},
	}
	for _, tt := range tests {
		got := ""
		err := Walk(doc, tt.path, func(at []int, value []byte) { got += fmt.Sprintf("%v=%s ", at, value) })
		if err != nil || got != tt.want {
			t.Errorf("%v: got %s, %v", tt.path, got, err)
		}
	}
	for _, bad := range []string{`{"hooks":[]}`, `{"hooks":{"Pre":[1]}}`, `{"hooks":{"Pre":{}}}`, `{`, `{"hooks":{},"hooks":{}}`} {
		if err := Walk([]byte(bad), handlerPath, func([]int, []byte) {}); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
	if err := Walk(nil, handlerPath, nil); err != nil {
		t.Error(err)
	}
}

func TestOnly(t *testing.T) {
	err := Only([]byte("{\"hooks\": {},\n\"$schema\": 1}"), "hooks", "description")
	if err == nil || err.Error() != `line 2: unknown key "$schema"` {
		t.Errorf("error = %v", err)
	}
	if err := Only([]byte(`{"hooks":{}}`), "hooks"); err != nil {
		t.Error(err)
	}
	if err := Only([]byte(`[]`), "hooks"); err == nil {
		t.Error("an array has no keys")
	}
}
