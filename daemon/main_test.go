package daemon

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soon is how long a test waits for something that takes milliseconds on a machine with nothing
// else to do.
const soon = 3 * time.Minute
