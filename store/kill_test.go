package store_test

const childVariable = "STORE_TEST_CHILD"

func child(string) {}
