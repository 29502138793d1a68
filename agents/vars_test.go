package agents

import (
	"slices"
	"strings"
	"testing"

	"satelle/internal/fault"
)

func TestResolve(t *testing.T) {
	f, err := Parse("a.toml", []byte(`[x]
command = "c {model}"
model = "${K}"
tools = "${K}"
effort = "${K}"
settings = "${K}"
env = { AUTH = "Bearer ${K}", TWO = "${K}/${L}/${K}", PLAIN = "$K {model}", EMPTY = "" }
`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Resolve("x", Vars{Values: map[string]string{"K": "v1 ${L}", "L": "v2"}, Secret: []string{"K"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"AUTH=Bearer v1 ${L}", "EMPTY=", "PLAIN=$K {model}", "TWO=v1 ${L}/v2/v1 ${L}"}
	if !slices.Equal(r.Env, want) {
		t.Errorf("%q", r.Env)
	}
	if r.Model != "${K}" || r.Tools != "${K}" || r.Effort != "${K}" || r.Settings != "${K}" || r.Argv(Values{})[1] != "${K}" {
		t.Errorf("expanded outside of env: %+v, %q", r.Binding, r.Argv(Values{}))
	}
	for _, secret := range []string{"v1 ${L}", "Bearer v1 ${L}"} {
		if !slices.Contains(r.Secrets, secret) {
			t.Errorf("%q is no secret: %q", secret, r.Secrets)
		}
	}
	if slices.Contains(r.Secrets, "") {
		t.Error("the empty value is a secret")
	}
}

func TestResolveRefuses(t *testing.T) {
	t.Setenv("ONLY_IN_THE_SYSTEM", "value")
	f, err := Parse("a.toml", []byte("[x]\ncommand = \"c d\"\nenv = { TOKEN = \"Bearer ${ONLY_IN_THE_SYSTEM}\" }\n[y]\ncommand = \"c d\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Resolve("x", Vars{})
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "[x]") || !strings.Contains(err.Error(), "${ONLY_IN_THE_SYSTEM}") {
		t.Errorf("%v", err)
	}
	if _, err := f.Resolve("y", Vars{}); err != nil {
		t.Errorf("a binding that needs nothing: %v", err)
	}
	if _, err := f.Resolve("z", Vars{}); err == nil {
		t.Error("resolved what is not there")
	}
}
