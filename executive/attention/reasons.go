package attention

// Reasons returns every possible reason for a decision, as the journal records it.
func Reasons() []string {
	return []string{
		Addressed, WhatIFound, WasAsked, ToTheRoom, NotForMe, ForLater, PeopleFirst, Answered, OnTheLine, Tender, Performed,
		Unasked, Passive, AtNight, Spent, Cooling, Snoozing, Hushed, ToldNo, OthersTalk, AskerTalks, SomebodyType, NotWorth,
		NotSure, Stale, Told, NobodyHere,
		SomebodyCame, NoGreeting, NotAway, OthersGreet, LeftAgain, Talking, TooLate,
	}
}
