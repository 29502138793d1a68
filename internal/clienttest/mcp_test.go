//go:build clients

package clienttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/tidwall/gjson"
)

// asServer is set for the test program where it is to be an MCP server.
const asServer = "CLIENTTEST_MCP"

// self is the test program.
func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// serveMCP is a server of the Model Context Protocol with two tools: put
// writes a file, look reads nothing and says "seen".
func serveMCP(in io.Reader, out io.Writer) {
	tool := func(name, about string, properties object, required ...string) object {
		return object{"name": name, "description": about, "inputSchema": object{"type": "object", "properties": properties, "required": append([]string{}, required...)}}
	}
	text := object{"type": "string"}
	tools := []object{
		tool("put", "Writes a file", object{"path": text, "text": text}, "path", "text"),
		tool("look", "Looks around", object{"at": text}),
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m := gjson.ParseBytes(lines.Bytes())
		var result object
		switch m.Get("method").String() {
		case "initialize":
			result = object{
				"protocolVersion": m.Get("params.protocolVersion").String(), "capabilities": object{"tools": object{}},
				"serverInfo": object{"name": "probe", "version": "1"},
			}
		case "tools/list":
			result = object{"tools": tools}
		case "tools/call":
			said := "seen"
			if args := m.Get("params.arguments"); m.Get("params.name").String() == "put" {
				said = "put"
				if err := os.WriteFile(args.Get("path").String(), []byte(args.Get("text").String()), 0o644); err != nil {
					said = err.Error()
				}
			}
			result = object{"content": []object{{"type": "text", "text": said}}}
		default:
			result = object{}
		}
		if id := m.Get("id"); id.Exists() {
			fmt.Fprintln(out, encode(object{"jsonrpc": "2.0", "id": json.RawMessage(id.Raw), "result": result}))
		}
	}
}
