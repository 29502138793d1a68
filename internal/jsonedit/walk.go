package jsonedit

import "slices"

// Walk calls fn with the JSON text of every element of the arrays at path, and
// its index in each array on the way. A path that leads nowhere has none.
func Walk(doc []byte, path []string, fn func(at []int, value []byte)) error {
	if doc == nil {
		return nil
	}
	root, err := parse(doc)
	if err != nil {
		return err
	}
	return walk(doc, root, path, nil, nil, fn)
}

func walk(doc []byte, n node, path, walked []string, at []int, fn func([]int, []byte)) error {
	if len(path) > 0 && path[0] != Each {
		if err := n.want(doc, '{', name(walked)); err != nil {
			return err
		}
		m, err := n.member(doc, path[0])
		if err != nil || m < 0 {
			return err
		}
		return walk(doc, n.items[m].node, path[1:], append(walked[:len(walked):len(walked)], path[0]), at, fn)
	}
	if err := n.want(doc, '[', name(walked)); err != nil {
		return err
	}
	for i, it := range n.items {
		at := append(at[:len(at):len(at)], i)
		if len(path) == 0 {
			fn(at, doc[it.node.start:it.node.end])
			continue
		}
		if err := walk(doc, it.node, path[1:], append(walked[:len(walked):len(walked)], Each), at, fn); err != nil {
			return err
		}
	}
	return nil
}

// Only reports an error that names the first key of the document, which must
// be an object, that is not among those allowed.
func Only(doc []byte, allowed ...string) error {
	root, err := parse(doc)
	if err != nil {
		return err
	}
	if err := root.want(doc, '{', name(nil)); err != nil {
		return err
	}
	for _, it := range root.items {
		if !slices.Contains(allowed, it.key) {
			return fail(doc, it.from, "unknown key %q", it.key)
		}
	}
	return nil
}
