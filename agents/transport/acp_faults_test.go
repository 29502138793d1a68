package transport

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"
)

// Whatever a peer does, the run ends within its time, with a class.
func TestACPFaults(t *testing.T) {
	t.Parallel()
	for scene, want := range map[string]string{
		"mute": TimedOut, "stuffed": TimedOut, "dies": Failed, "leaves": Protocol, "hangs up": TimedOut, "pesters": Protocol, "hears nothing": TimedOut, "chatters": TimedOut,
	} {
		t.Run(scene, func(t *testing.T) {
			t.Parallel()
			o := newOverACP(t, scene, "peer stdio")
			o.inv.Payload = []byte(strings.Repeat("x", 1<<20)) // more than a pipe holds
			switch scene {
			case "mute", "stuffed", "hangs up", "hears nothing", "chatters":
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
		"0": "0", "0.1": "100000", "1.0000005": "1000001", "0.0000004": "0", "12.345678": "12345678", "999999.999999": "999999999999",
		"-0.1": "unknown", "1000000.1": "unknown", "9300000000000": "unknown", "1e40": "unknown", "1e308": "unknown", "-1e308": "unknown", "1e-300": "unknown",
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
		`{"jsonrpc":"2.0","id":PROMPT,"result":{"stopReason":"end_turn","usage":{"inputTokens":-1,"outputTokens":-9,"totalTokens":5,"cachedReadTokens":-3,"cachedWriteTokens":1000000000001}}}`+"\n")
	if u := r.Usage; err != nil || u.Input != nil || u.Output != nil || u.CacheRead != nil || u.CacheWrite != nil || u.Total == nil {
		t.Errorf("%+v, %v", u, err)
	}
}

// What can't be decoded in part is no report: nothing of it is recorded.
func TestACPHalfDecoded(t *testing.T) {
	t.Parallel()
	for _, usage := range []string{`{"inputTokens":7,"outputTokens":"9","totalTokens":16}`, `{"inputTokens":7,"outputTokens":1e308}`} {
		_, r, err := scripted(t, updates(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"done"}}`)+
			`{"jsonrpc":"2.0","id":PROMPT,"result":{"stopReason":"end_turn","usage":`+usage+"}}\n")
		var f *Failure
		if !errors.As(err, &f) || f.Class != Protocol || r.Usage.Available() || r.Text != "" {
			t.Errorf("%s: %+v, %v", usage, r, err)
		}
	}
}

// What is said and asked in a session that satelle has not opened counts for
// nothing.
func TestACPOtherSession(t *testing.T) {
	t.Parallel()
	other := func(s string) string { return strings.ReplaceAll(s, `"s1"`, `"s2"`) }
	chunk := func(text string) string {
		return updates(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}`)
	}
	_, r, err := scripted(t, chunk("ours")+other(chunk("theirs"))+ended)
	if err != nil || r.Text != "ours" {
		t.Errorf("%q, %v", r.Text, err)
	}
	if _, r, err = scripted(t, other(chunk("theirs"))+ended); err == nil || r.Text != "" {
		t.Errorf("%q, %v", r.Text, err)
	}
	c := &acpClient{session: "s1", grant: grant{edits: true, runs: true, reads: true}, files: &files{grant: grant{edits: true, reads: true}, dir: t.TempDir()}}
	_, asked := c.RequestPermission(t.Context(), acp.RequestPermissionRequest{SessionId: "s2"})
	_, read := c.ReadTextFile(t.Context(), acp.ReadTextFileRequest{SessionId: "s2"})
	_, written := c.WriteTextFile(t.Context(), acp.WriteTextFileRequest{SessionId: "s2"})
	for _, err := range []error{asked, read, written} {
		if err == nil || !strings.Contains(fmt.Sprint(err), "no such session") {
			t.Errorf("answered: %v", err)
		}
	}
}

// An agent that does not read its answers is not asked for more of them.
func TestACPOwesFewAnswers(t *testing.T) {
	t.Parallel()
	heard, said := io.Pipe()
	owed, over := make(chan struct{}, maxOwed), make(chan struct{})
	lines := &acpLines{to: said, raw: io.Discard, heard: make(chan struct{}), owed: owed, over: over}
	answers := &acpAnswers{to: io.Discard, owed: owed}
	go func() {
		for i := range maxOwed + 2 {
			fmt.Fprintf(lines, `{"id":%d,"method":"fs/read_text_file"}`+"\n", i)
		}
	}()
	in := bufio.NewScanner(heard)
	for range maxOwed {
		in.Scan()
	}
	if len(owed) != maxOwed {
		t.Errorf("%d are owed", len(owed))
	}
	fmt.Fprintln(answers, `{"id":1,"method":"session/prompt"}`) // a request of satelle's
	if len(owed) != maxOwed {
		t.Errorf("%d are owed after a request", len(owed))
	}
	fmt.Fprintln(answers, `{"id":0,"result":{}}`)
	if in.Scan(); !strings.Contains(in.Text(), fmt.Sprintf(`"id":%d`, maxOwed)) {
		t.Errorf("after an answer: %s", in.Text())
	}
	close(over)
}
