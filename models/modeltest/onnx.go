package modeltest

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

// Types of the elements of a tensor, as ONNX numbers them.
const (
	float   = 1
	integer = 7
)

// A message is one of protobuf, being written.
type message []byte

func (m *message) varint(v uint64) { *m = binary.AppendUvarint(*m, v) }

// number writes a field that holds a number.
func (m *message) number(field int, v int64) {
	m.varint(uint64(field) << 3)
	m.varint(uint64(v))
}

// bytes writes a field that holds bytes, a text or a message.
func (m *message) bytes(field int, v []byte) {
	m.varint(uint64(field)<<3 | 2)
	m.varint(uint64(len(v)))
	*m = append(*m, v...)
}

func (m *message) text(field int, v string) { m.bytes(field, []byte(v)) }

// A network is an ONNX model, being written. The numbers of its fields are those of onnx.proto.
type network struct{ graph message }

// An attribute is a setting of a node.
type attribute message

// whole returns an attribute that holds a number.
func whole(name string, v int64) attribute {
	var m message
	m.text(1, name)
	m.number(3, v)
	m.number(20, 2)
	return attribute(m)
}

// wholes returns an attribute that holds numbers.
func wholes(name string, v ...int64) attribute {
	var m message
	m.text(1, name)
	for _, n := range v {
		m.number(8, n)
	}
	m.number(20, 7)
	return attribute(m)
}

// node adds a node with one output.
func (n *network) node(op, output string, inputs []string, settings ...attribute) {
	var m message
	for _, in := range inputs {
		m.text(1, in)
	}
	m.text(2, output)
	m.text(3, op+" "+output)
	m.text(4, op)
	for _, a := range settings {
		m.bytes(5, a)
	}
	n.graph.bytes(1, m)
}

// floats adds a constant.
func (n *network) floats(name string, shape []int64, values []float32) {
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	n.constant(name, float, shape, raw)
}

// ints adds a constant.
func (n *network) ints(name string, shape []int64, values ...int64) {
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	n.constant(name, integer, shape, raw)
}

func (n *network) constant(name string, element int64, shape []int64, raw []byte) {
	var m message
	for _, d := range shape {
		m.number(1, d)
	}
	m.number(2, element)
	m.text(8, name)
	m.bytes(9, raw)
	n.graph.bytes(5, m)
}

// input and output add a tensor that goes in or comes out. A dimension is a number, or the name of
// one that is not fixed.
func (n *network) input(name string, element int64, shape ...any) {
	n.graph.bytes(11, tensor(name, element, shape))
}

func (n *network) output(name string, element int64, shape ...any) {
	n.graph.bytes(12, tensor(name, element, shape))
}

func tensor(name string, element int64, shape []any) []byte {
	var dimensions, kind, value, m message
	for _, d := range shape {
		var dim message
		switch d := d.(type) {
		case int:
			dim.number(1, int64(d))
		case string:
			dim.text(2, d)
		}
		dimensions.bytes(1, dim)
	}
	kind.number(1, element)
	kind.bytes(2, dimensions)
	value.bytes(1, kind)
	m.text(1, name)
	m.bytes(2, value)
	return m
}

// encode returns the file. Facts are what programs that load such a model read in it.
func (n *network) encode(facts map[string]string) []byte {
	var operators, m message
	n.graph.text(2, "graph")
	operators.text(1, "")
	operators.number(2, 13)
	m.number(1, 8)
	m.text(2, "earshot")
	m.bytes(7, n.graph)
	m.bytes(8, operators)
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		var fact message
		fact.text(1, name)
		fact.text(2, facts[name])
		m.bytes(14, fact)
	}
	return m
}
