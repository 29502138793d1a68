package dialect

import (
	"strings"

	"github.com/tidwall/gjson"
)

// Input is a tool's input: the first level of its object. The zero Input has
// no fields.
type Input struct {
	fields []field
}

type field struct {
	key   string
	value gjson.Result
}

// parseInput refuses an input that names a key twice, since the harness and
// this package could take different ones.
func parseInput(object gjson.Result) (Input, error) {
	var in Input
	var err error
	object.ForEach(func(key, value gjson.Result) bool {
		for _, f := range in.fields {
			if f.key == key.Str {
				err = ErrDuplicate
				return false
			}
		}
		if len(in.fields) == maxFields {
			err = ErrNesting
			return false
		}
		in.fields = append(in.fields, field{key.Str, value})
		return true
	})
	return in, err
}

// maxFields bounds the fields of one input; looking for duplicates takes the
// square of it.
const maxFields = 256

func (in Input) find(key string) (gjson.Result, bool) {
	for _, f := range in.fields {
		if f.key == key {
			return f.value, true
		}
	}
	return gjson.Result{}, false
}

// Texts returns the values of those of the keys that are there, in order. Each
// must be a string without NUL bytes, at which a C program would stop reading.
func (in Input) Texts(keys ...string) ([]string, error) {
	var all []string
	for _, key := range keys {
		value, ok := in.find(key)
		if !ok || value.Type == gjson.Null {
			continue
		}
		if value.Type != gjson.String || strings.IndexByte(value.Str, 0) >= 0 {
			return nil, ErrType
		}
		all = append(all, value.Str)
	}
	return all, nil
}

// Text returns the value of the one of the keys that is there; two are refused.
func (in Input) Text(keys ...string) (text string, ok bool, err error) {
	all, err := in.Texts(keys...)
	if err != nil || len(all) == 0 {
		return "", false, err
	}
	if len(all) > 1 {
		return "", false, ErrSpellings
	}
	return all[0], true, nil
}

// Argv returns the value of key if it is an array of strings, as a harness
// sends a command that no shell reads. A field of another type is not one.
func (in Input) Argv(key string) (argv []string, ok bool, err error) {
	value, ok := in.find(key)
	if !ok || !value.IsArray() {
		return nil, false, nil
	}
	value.ForEach(func(_, word gjson.Result) bool {
		if word.Type != gjson.String || strings.IndexByte(word.Str, 0) >= 0 {
			err = ErrType
			return false
		}
		argv = append(argv, word.Str)
		return true
	})
	if err == nil && len(argv) == 0 {
		err = ErrIncomplete
	}
	return argv, true, err
}

// Leaf is a string somewhere in an input, with the nearest key above it.
type Leaf struct{ Key, Text string }

// Leaves returns all strings of an input, however deep, for a tool of which it
// isn't known what they mean.
func (in Input) Leaves() []Leaf {
	var all []Leaf
	var walk func(key string, value gjson.Result)
	walk = func(key string, value gjson.Result) {
		if value.Type == gjson.String {
			all = append(all, Leaf{key, value.Str})
		}
		if value.Type != gjson.JSON {
			return
		}
		object := value.IsObject()
		value.ForEach(func(k, v gjson.Result) bool {
			if object {
				walk(k.Str, v)
			} else {
				walk(key, v)
			}
			return true
		})
	}
	for _, f := range in.fields {
		walk(f.key, f.value)
	}
	return all
}

// True reports whether key is there with anything but false, null or nothing.
func (in Input) True(key string) bool {
	value, ok := in.find(key)
	return ok && value.Type != gjson.False && value.Type != gjson.Null
}
