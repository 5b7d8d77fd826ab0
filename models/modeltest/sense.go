package modeltest

// WriteSilero writes a model of the kind of silero-vad 5 and later into a folder, model.onnx: a voice is
// what has more than -40 dB. Some exports take the rate as a list of one number.
func WriteSilero(folder string, listed bool) error {
	var n network
	n.input("input", float, 1, 576)
	n.input("state", float, 2, 1, 128)
	if listed {
		n.input("sr", integer, 1)
	} else {
		n.input("sr", integer)
	}
	n.output("output", float, 1, 1)
	n.output("stateN", float, 2, 1, 128)
	n.floats("least", []int64{1}, []float32{1e-10})
	n.floats("offset", []int64{1}, []float32{4 * 2.302585})
	n.floats("steepness", []int64{1}, []float32{1.5})
	n.node("Mul", "squares", []string{"input", "input"})
	n.node("ReduceMean", "power", []string{"squares"}, wholes("axes", 1), whole("keepdims", 1))
	n.node("Add", "some", []string{"power", "least"})
	n.node("Log", "logarithm", []string{"some"})
	n.node("Add", "above", []string{"logarithm", "offset"})
	n.node("Mul", "steep", []string{"above", "steepness"})
	n.node("Sigmoid", "output", []string{"steep"})
	n.node("Identity", "stateN", []string{"state"})
	return write(folder, map[string][]byte{"model.onnx": n.encode(nil)})
}

// WriteSmartTurn writes a model of the kind of smart-turn 3 into a folder, model.onnx: somebody has
// finished if the last 200 ms are softer than the second before them.
func WriteSmartTurn(folder string) error {
	var n network
	n.input("input_features", float, "N", 80, 800)
	n.output("logits", float, "N", 1)
	n.ints("from", []int64{1}, 680)
	n.ints("since", []int64{1}, 780)
	n.ints("end", []int64{1}, 800)
	n.ints("time", []int64{1}, 2)
	n.ints("column", []int64{1}, 1)
	n.floats("steepness", []int64{1}, []float32{4})
	n.node("Slice", "late", []string{"input_features", "since", "end", "time"})
	n.node("Slice", "early", []string{"input_features", "from", "since", "time"})
	n.node("ReduceMean", "loudness", []string{"late"}, wholes("axes", 1, 2), whole("keepdims", 0))
	n.node("ReduceMean", "before", []string{"early"}, wholes("axes", 1, 2), whole("keepdims", 0))
	n.node("Sub", "softer", []string{"before", "loudness"})
	n.node("Mul", "steep", []string{"softer", "steepness"})
	n.node("Sigmoid", "p", []string{"steep"})
	n.node("Unsqueeze", "logits", []string{"p", "column"})
	return write(folder, map[string][]byte{"model.onnx": n.encode(nil)})
}
