package cast

import (
	"math"
	"math/rand/v2"
	"strings"
)

// Background are the people for training. None of them has a voice of [Strangers].
func Background() (all []Person) {
	luck := rand.New(rand.NewPCG(1, 5))
	for _, variant := range strings.Fields(variants) {
		for range 2 {
			all = append(all, Person{
				Engine: Espeak, Voice: accents[luck.IntN(len(accents))] + "+" + variant,
				Tract: math.Exp(between(luck, 0.12)), Pitch: math.Exp(between(luck, 0.3)), Pace: 1 + between(luck, 0.15),
			})
		}
	}
	for _, voice := range []string{"kal16", "awb"} {
		for _, b := range bodies {
			all = append(all, Person{Engine: Flite, Voice: voice, Tract: b.tract, Pitch: b.pitch, Pace: 1})
		}
	}
	return named(all)
}

// Strangers are the people for measuring.
func Strangers() (all []Person) {
	for _, variant := range strings.Fields("m1 m2 m3 m4 m5 m6 m7 f1 f2 f3 f4 f5") {
		all = append(all, Person{Engine: Espeak, Voice: "en-us+" + variant, Tract: 1, Pitch: 1, Pace: 1})
	}
	for _, voice := range []string{"slt", "rms"} {
		for _, b := range bodies[:3] {
			all = append(all, Person{Engine: Flite, Voice: voice, Tract: b.tract, Pitch: b.pitch, Pace: 1})
		}
	}
	return named(all)
}

// Relatives and Passersby are people with similar voices, like those of one family: several of
// each voice that no model was trained on. The first are for calibrating judgements, the others
// for measuring them; neither has a voice of the other.
func Relatives() []Person { return families(0) }

// Passersby: see [Relatives].
func Passersby() []Person { return families(1) }

// families are the people of each second voice.
func families(from int) (all []Person) {
	luck := rand.New(rand.NewPCG(2, 7))
	for i, variant := range strings.Fields("m1 m2 m3 m4 m5 m6 m7 f1 f2 f3 f4 f5") {
		for range bodies {
			p := Person{
				Engine: Espeak, Voice: accents[luck.IntN(len(accents))] + "+" + variant,
				Tract: math.Exp(between(luck, 0.12)), Pitch: math.Exp(between(luck, 0.3)), Pace: 1 + between(luck, 0.15),
			}
			if i%2 == from {
				all = append(all, p)
			}
		}
	}
	for _, b := range bodies {
		all = append(all, Person{Engine: Flite, Voice: []string{"slt", "rms"}[from], Tract: b.tract, Pitch: b.pitch, Pace: 1})
	}
	return named(all)
}

// variants are those of espeak-ng that sound like people, without the numbered
// ones, which are strangers.
const variants = `adam Alex Alicia Andrea Andy Annie Denis Diogo Gene Gene2 Henrique Hugo Jacky Lee Marco Mario
	Michael Mike antonio aunty belinda benjamin boris caleb david ed edward edward2 grandma gustave iven iven2
	iven3 john linda marcelo max klatt klatt2 klatt3 m8 AnxiousAndy michel miguel norbert pablo paul pedro quincy
	rob robert sandro shelby steph steph3 travis victor zac klatt4 klatt6 grandpa iven4 Nguyen`

var accents = []string{"en-us", "en-gb", "en-gb-x-rp", "en-gb-scotland", "en-029", "en-gb-x-gbcwmd"}

// bodies make several people of one voice.
var bodies = []struct{ tract, pitch float64 }{{1, 1}, {0.9, 0.85}, {1.12, 1.2}, {0.95, 1.15}, {1.06, 0.9}}

// between returns a number from -most to most.
func between(luck *rand.Rand, most float64) float64 { return most * (2*luck.Float64() - 1) }

// named gives people names that are theirs alone.
func named(all []Person) []Person {
	seen := make(map[string]int)
	for i := range all {
		voice := all[i].Voice
		seen[voice]++
		all[i].Name = voice + strings.Repeat("'", seen[voice]-1)
	}
	return all
}

// Lines are what the background says.
func Lines() []string { return strings.Split(lines, "\n") }

const lines = `the boats came home before the storm reached the bay
nobody knew why the lights went out last night
put the red folder on the desk next to the window
she paints small pictures of birds and flowers
it rained so hard that the river rose two feet
fresh bread smells better than anything else in the world
do you want to go for a walk after dinner
they fixed the roof but forgot about the chimney`

// Talk is what strangers say: other words.
func Talk() []string { return strings.Split(talk, "\n") }

const talk = `what time is it
remind me to finish this by four p m
we should meet tomorrow
hey what do you see
can you turn the music down a little
i think we should go to the store after lunch
what is the weather going to be like today
please send the report to john before friday
how long will it take to get there
i do not understand what you mean
let me know when the build is done
open the door and let the dog out
the meeting was moved to three thirty on monday
could you read me my messages
stop talking please
what did she say about the money
add milk and eggs to the shopping list
who is speaking right now
i will call you back in ten minutes
thank you very much that is all for now`
