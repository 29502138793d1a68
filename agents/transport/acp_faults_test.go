package transport

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Whatever a peer does, the run ends within its time, with a class.
func TestACPFaults(t *testing.T) {
	t.Parallel()
	for scene, want := range map[string]string{
		"mute": TimedOut, "stuffed": TimedOut, "dies": Failed, "leaves": Protocol, "hangs up": TimedOut, "pesters": Protocol, "chatters": TimedOut,
	} {
		t.Run(scene, func(t *testing.T) {
			t.Parallel()
			o := newOverACP(t, scene, "peer stdio")
			o.inv.Payload = []byte(strings.Repeat("x", 1<<20)) // more than a pipe holds
			switch scene {
			case "mute", "stuffed", "hangs up", "chatters":
				o.inv.Timeout = 300 * time.Millisecond
			}
			began := time.Now()
			r, err := Run(t.Context(), o.inv)
			var f *Failure
			if !errors.As(err, &f) || f.Class != want || f.Message == "" || r.Text != "" {
				t.Errorf("%+v, %v", r, err)
			}
			if scene == "dies" && (f.ExitCode != 3 || !strings.Contains(f.Message, "it can't go on")) {
				t.Errorf("%v with exit code %d", f, f.ExitCode)
			}
			if took := time.Since(began); took > 50*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

const ended = `{"jsonrpc":"2.0","id":PROMPT,"result":{"stopReason":"end_turn"}}` + "\n"

// scripted runs what a peer sends once it is prompted.
func scripted(t *testing.T, script string) (*overACP, Result, error) {
	t.Helper()
	o := newOverACP(t, "script", "peer stdio")
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	o.inv.Env = append(o.inv.Env, acpScript+"="+file)
	r, err := Run(t.Context(), o.inv)
	return o, r, err
}

// What is strange and harmless is passed over, and the answer counts.
func TestACPPassesOver(t *testing.T) {
	t.Parallel()
	say := func(text string) string {
		return updates(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}`)
	}
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for name, script := range map[string]string{
		"unknown methods": `{"jsonrpc":"2.0","id":7,"method":"x/y","params":{}}` + "\n" + `{"jsonrpc":"2.0","id":8,"method":"_x/y"}` + "\n" +
			`{"jsonrpc":"2.0","method":"x/y"}` + "\n" + `{"jsonrpc":"2.0","method":"_x/y"}` + "\n",
		"a depth of 100000": `{"jsonrpc":"2.0","method":"session/update","params":` + deep + "}\n" + deep + "\n" +
			updates(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","rawInput":`+deep+"}"),
		"a depth of 9000": updates(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","rawInput":` + deep[100_000-4500:100_000+4500] + "}"),
		"no messages":     "{}\n[]\nnull\n\"\"\n1\n" + `{"id":{},"method":"x"}` + "\n" + `{"id":77,"result":{}}` + "\n" + `{"method":1}` + "\n",
		"forged marks":    strings.Repeat(`{"jsonrpc":"2.0","method":"_satelle/mark"}`+"\n", 2000),
		"unknown updates": updates(`{"sessionUpdate":"x"}`, `{}`, `[]`),
		"a flood":         strings.Repeat(updates(`{"sessionUpdate":"plan","entries":[]}`), 50_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r, err := scripted(t, script+say("done")+ended)
			if err != nil || r.Text != "done" {
				t.Errorf("%q, %v", r.Text, err)
			}
		})
	}
}

// An answer that can't be read is none, and who waits for it waits no longer than
// its time.
func TestACPAnswerTooDeep(t *testing.T) {
	t.Parallel()
	o := newOverACP(t, "script", "peer stdio")
	file := filepath.Join(t.TempDir(), "script")
	answer := `{"jsonrpc":"2.0","id":PROMPT,"result":{"stopReason":"end_turn","_meta":{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}}}\n"
	if err := os.WriteFile(file, []byte(answer), 0o600); err != nil {
		t.Fatal(err)
	}
	o.inv.Env, o.inv.Timeout = append(o.inv.Env, acpScript+"="+file), time.Second
	var f *Failure
	if _, err := Run(t.Context(), o.inv); !errors.As(err, &f) || f.Class != TimedOut {
		t.Errorf("%v", err)
	}
}

// What an agent says that it cost is exact, or unknown.
func TestACPCost(t *testing.T) {
	t.Parallel()
	for amount, want := range map[string]string{
		"0": "0", "0.1": "100000", "1.0000005": "1000001", "0.0000004": "0", "12.345678": "12345678", "9000000000000": "9000000000000000000",
		"-0.1": "unknown", "9300000000000": "unknown", "1e40": "unknown", "1e308": "unknown", "-1e308": "unknown", "1e-300": "unknown",
	} {
		t.Run(amount, func(t *testing.T) {
			t.Parallel()
			_, r, err := scripted(t, updates(
				`{"sessionUpdate":"usage_update","size":1,"used":1,"cost":{"amount":`+amount+`,"currency":"USD"}}`,
				`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"done"}}`)+ended)
			got := "unknown"
			if r.Usage.CostMicros != nil {
				got = fmt.Sprint(*r.Usage.CostMicros)
			}
			if err != nil || got != want {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
	_, r, err := scripted(t, updates(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"done"}}`)+
		`{"jsonrpc":"2.0","id":PROMPT,"result":{"stopReason":"end_turn","usage":{"inputTokens":-1,"outputTokens":-9,"totalTokens":5,"cachedReadTokens":-3}}}`+"\n")
	if u := r.Usage; err != nil || u.Input != nil || u.Output != nil || u.CacheRead != nil || u.Total == nil {
		t.Errorf("%+v, %v", u, err)
	}
}
