// Command voiceprint makes the numbers that package voiceprint needs: it has people
// who do not exist speak through channels of all kinds, listens as the package
// does, and writes down what tells them apart. go generate runs it.
//
// The same programs flite and espeak-ng make the same file, byte for byte, on
// one kind of processor; the file says which they were.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"

	"earshot/models/voiceprint/acoustic"
	"earshot/models/voiceprint/cast"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "voiceprint: %v\n", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("voiceprint", flag.ContinueOnError)
	to := flags.String("o", "voices.bin", "the `file` to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	m, err := train(ctx, cast.Background(), out)
	if err != nil {
		return err
	}
	return os.WriteFile(*to, m.Encode(), 0o644)
}

// train makes a model of the voices of people.
func train(ctx context.Context, people []cast.Person, out io.Writer) (*acoustic.Model, error) {
	mixture, err := learnMixture(ctx, people)
	if err != nil {
		return nil, err
	}
	takes, err := record(ctx, people, mixture)
	if err != nil {
		return nil, err
	}
	m := discriminate(takes, mixture)
	calibrate(m, takes, out)
	m.Recipe, err = recipe(ctx, people)
	return m, err
}

// recipe says what a model was made from.
func recipe(ctx context.Context, people []cast.Person) (string, error) {
	version := regexp.MustCompile(`[0-9]+(\.[0-9]+)+`)
	var engines []string
	for _, engine := range []string{cast.Flite, cast.Espeak} {
		text, err := exec.CommandContext(ctx, engine, "--version").CombinedOutput()
		if len(text) == 0 {
			return "", fmt.Errorf("asking %s for its version: %w", engine, err)
		}
		engines = append(engines, engine+" "+version.FindString(string(text)))
	}
	return strings.Join(engines, ", ") + ": " + ingredients(people), nil
}

// ingredients says who said what. It changes with each of them.
func ingredients(people []cast.Person) string {
	what := sha256.Sum256(fmt.Append(nil, people, cast.Lines(), cuts))
	return fmt.Sprintf("%d people, %d lines, %d channels (%s)", len(people), len(cast.Lines()), channels, hex.EncodeToString(what[:4]))
}
