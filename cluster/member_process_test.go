package cluster_test

func runChild() {}
