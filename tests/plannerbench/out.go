package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// keep writes a record and its sidecars into the folder of the bench, readable
// by the person alone.
func keep(dir string, p *played) error {
	name := fmt.Sprintf("%s.%s.%d", p.record.Cell, p.record.Fixture, p.record.Number)
	if p.record.Probe {
		name = p.record.Cell + ".probe"
	}
	p.record.Raw, p.record.Artifact = name+".raw.log", name+".artifact.md"
	record, err := json.MarshalIndent(p.record, "", "  ")
	if err != nil {
		return err
	}
	for file, data := range map[string][]byte{
		name + ".json":    append(record, '\n'),
		p.record.Raw:      p.raw,
		p.record.Artifact: []byte(p.artifact),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
