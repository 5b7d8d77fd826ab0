package discord_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"earshot/internal/helper/helpertest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		helpertest.Remove()
		os.Exit(code)
	}))
}
