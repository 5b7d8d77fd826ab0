package tts

import "earshot/language"

// The voices were trained on American English, so spoken words are spelled that way here.

// units are what a number is of, for one and for many.
var units = map[string][2]string{
	"mm": {"millimeter", "millimeters"}, "cm": {"centimeter", "centimeters"}, "m": {"meter", "meters"}, "km": {"kilometer", "kilometers"},
	"nm": {"nanometer", "nanometers"}, "µm": {"micrometer", "micrometers"}, "μm": {"micrometer", "micrometers"},
	"ft": {"foot", "feet"}, "mi": {"mile", "miles"}, "yd": {"yard", "yards"}, "in": {"inch", "inches"},
	"m²": {"square meter", "square meters"}, "m2": {"square meter", "square meters"}, "km²": {"square kilometer", "square kilometers"},
	"km2": {"square kilometer", "square kilometers"}, "cm²": {"square centimeter", "square centimeters"}, "m³": {"cubic meter", "cubic meters"}, "m3": {"cubic meter", "cubic meters"},
	"mg": {"milligram", "milligrams"}, "g": {"gram", "grams"}, "kg": {"kilogram", "kilograms"}, "lb": {"pound", "pounds"}, "lbs": {"pound", "pounds"}, "oz": {"ounce", "ounces"},
	"ml": {"milliliter", "milliliters"}, "mL": {"milliliter", "milliliters"}, "cl": {"centiliter", "centiliters"}, "l": {"liter", "liters"}, "L": {"liter", "liters"},
	"ns": {"nanosecond", "nanoseconds"}, "µs": {"microsecond", "microseconds"}, "μs": {"microsecond", "microseconds"}, "ms": {"millisecond", "milliseconds"},
	"s": {"second", "seconds"}, "sec": {"second", "seconds"}, "secs": {"second", "seconds"}, "min": {"minute", "minutes"}, "mins": {"minute", "minutes"},
	"h": {"hour", "hours"}, "hr": {"hour", "hours"}, "hrs": {"hour", "hours"}, "yr": {"year", "years"}, "yrs": {"year", "years"},
	"Hz": {"hertz", "hertz"}, "kHz": {"kilohertz", "kilohertz"}, "MHz": {"megahertz", "megahertz"}, "GHz": {"gigahertz", "gigahertz"}, "THz": {"terahertz", "terahertz"},
	"bit": {"bit", "bits"}, "bits": {"bit", "bits"}, "byte": {"byte", "bytes"}, "bytes": {"byte", "bytes"},
	"kB": {"kilobyte", "kilobytes"}, "KB": {"kilobyte", "kilobytes"}, "MB": {"megabyte", "megabytes"}, "GB": {"gigabyte", "gigabytes"}, "TB": {"terabyte", "terabytes"}, "PB": {"petabyte", "petabytes"},
	"KiB": {"kibibyte", "kibibytes"}, "MiB": {"mebibyte", "mebibytes"}, "GiB": {"gibibyte", "gibibytes"}, "TiB": {"tebibyte", "tebibytes"},
	"kbit": {"kilobit", "kilobits"}, "Mbit": {"megabit", "megabits"}, "Gbit": {"gigabit", "gigabits"}, "kb": {"kilobit", "kilobits"}, "Mb": {"megabit", "megabits"}, "Gb": {"gigabit", "gigabits"},
	"kbps": {"kilobit per second", "kilobits per second"}, "Mbps": {"megabit per second", "megabits per second"}, "Gbps": {"gigabit per second", "gigabits per second"},
	"mph": {"mile per hour", "miles per hour"}, "kph": {"kilometer per hour", "kilometers per hour"}, "rpm": {"revolution per minute", "revolutions per minute"},
	"fps": {"frame per second", "frames per second"}, "dpi": {"dot per inch", "dots per inch"}, "px": {"pixel", "pixels"},
	"W": {"watt", "watts"}, "kW": {"kilowatt", "kilowatts"}, "MW": {"megawatt", "megawatts"}, "GW": {"gigawatt", "gigawatts"}, "mW": {"milliwatt", "milliwatts"},
	"Wh": {"watt hour", "watt hours"}, "kWh": {"kilowatt hour", "kilowatt hours"}, "MWh": {"megawatt hour", "megawatt hours"},
	"V": {"volt", "volts"}, "mV": {"millivolt", "millivolts"}, "kV": {"kilovolt", "kilovolts"}, "mA": {"milliamp", "milliamps"}, "mAh": {"milliamp hour", "milliamp hours"},
	"Ω": {"ohm", "ohms"}, "kΩ": {"kilohm", "kilohms"}, "kJ": {"kilojoule", "kilojoules"}, "kcal": {"kilocalorie", "kilocalories"}, "cal": {"calorie", "calories"},
	"Pa": {"pascal", "pascals"}, "hPa": {"hectopascal", "hectopascals"}, "kPa": {"kilopascal", "kilopascals"}, "dB": {"decibel", "decibels"},
	"°C": {"degree Celsius", "degrees Celsius"}, "℃": {"degree Celsius", "degrees Celsius"}, "°F": {"degree Fahrenheit", "degrees Fahrenheit"}, "℉": {"degree Fahrenheit", "degrees Fahrenheit"}, "°": {"degree", "degrees"},
	"tsp": {"teaspoon", "teaspoons"}, "tbsp": {"tablespoon", "tablespoons"}, "x": {"times", "times"},
	"%": {"percent", "percent"}, "‰": {"per thousand", "per thousand"},
	"€": {"euro", "euros"}, "£": {"pound", "pounds"}, "¥": {"yen", "yen"}, "EUR": {"euro", "euros"}, "USD": {"dollar", "dollars"}, "GBP": {"pound", "pounds"},
}

// near are units that are also words or names of other things, so they count only directly after
// their number.
var near = language.Set("in cal x")

// per are the units that stand after a slash.
var per = map[string]string{
	"s": "second", "sec": "second", "min": "minute", "h": "hour", "hr": "hour", "day": "day", "month": "month", "year": "year",
	"m": "meter", "m²": "square meter", "m2": "square meter", "m³": "cubic meter", "km": "kilometer", "kg": "kilogram", "l": "liter", "L": "liter",
}

// A coin is a currency that stands before its number.
type coin struct{ one, many, cent, cents string }

var coins = map[string]coin{
	"$": {"dollar", "dollars", "cent", "cents"},
	"€": {"euro", "euros", "cent", "cents"},
	"£": {"pound", "pounds", "penny", "pence"},
	"¥": {"yen", "yen", "", ""},
	"₹": {"rupee", "rupees", "paisa", "paise"},
}

// magnitudes are what stands after a sum of money.
var magnitudes = map[string]string{
	"k": "thousand", "K": "thousand", "m": "million", "M": "million", "mn": "million", "b": "billion", "B": "billion", "bn": "billion", "T": "trillion", "tn": "trillion",
	"thousand": "thousand", "million": "million", "billion": "billion", "trillion": "trillion",
}

// countable are words before which a number is not a year.
var countable = map[string]bool{
	"bytes": true, "bits": true, "people": true, "words": true, "lines": true, "files": true, "items": true, "points": true, "times": true,
	"steps": true, "tokens": true, "years": true, "days": true, "hours": true, "minutes": true, "seconds": true, "meters": true, "metres": true,
	"kilometers": true, "kilometres": true, "miles": true, "feet": true, "samples": true, "users": true, "pages": true, "dollars": true, "euros": true, "pounds": true,
}

// months by what they are written as.
var months = map[string]string{
	"January": "January", "February": "February", "March": "March", "April": "April", "May": "May", "June": "June", "July": "July",
	"August": "August", "September": "September", "October": "October", "November": "November", "December": "December",
	"Jan": "January", "Feb": "February", "Mar": "March", "Apr": "April", "Jun": "June", "Jul": "July", "Aug": "August",
	"Sep": "September", "Sept": "September", "Oct": "October", "Nov": "November", "Dec": "December",
}

// monthNames are the months in their order.
var monthNames = [...]string{
	"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
}

// dotted are abbreviations that end with a full stop, in lower case.
var dotted = map[string]string{
	"dr": "Doctor", "mr": "Mister", "mrs": "Missus", "ms": "Miz", "prof": "Professor", "sr": "Senior", "jr": "Junior",
	"e.g": "for example", "i.e": "that is", "etc": "et cetera", "vs": "versus", "cf": "compare", "approx": "approximately", "ca": "about",
	"est": "estimated", "dept": "department", "inc": "Incorporated", "ltd": "Limited", "corp": "Corporation", "ave": "Avenue", "blvd": "Boulevard",
	"tue": "Tuesday", "tues": "Tuesday", "wed": "Wednesday", "thu": "Thursday", "thur": "Thursday", "thurs": "Thursday", "fri": "Friday",
	"jan": "January", "feb": "February", "aug": "August", "sept": "September", "oct": "October", "nov": "November", "dec": "December",
	"a.m": "a m", "p.m": "p m",
}

// counted are abbreviations that mean something only before a number.
var counted = map[string]string{
	"no": "number", "nr": "number", "p": "page", "pp": "pages", "fig": "figure", "vol": "volume", "ch": "chapter", "sec": "section", "art": "article", "ver": "version",
}

// undotted are words that are not pronounced as written.
var undotted = map[string]string{
	"vs": "versus", "etc": "et cetera", "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Dr": "Doctor", "Prof": "Professor",
	"Mt": "Mount", "PhD": "P H D", "SQL": "sequel", "JSON": "jason", "json": "jason", "YAML": "yammel", "yaml": "yammel", "ASCII": "askey", "GUI": "gooey",
	"regex": "rej ex", "stdin": "standard in", "stdout": "standard out", "stderr": "standard error", "sudo": "sue do", "nginx": "engine x",
	"http": "H T T P", "https": "H T T P S", "html": "H T M L", "css": "C S S", "pdf": "P D F", "mp": "M P", "url": "U R L", "api": "A P I", "cpu": "C P U", "gpu": "G P U", "ok": "okay", "OK": "okay",
	"tsp": "teaspoon", "tbsp": "tablespoon", "AM": "A M", "PM": "P M", "wifi": "why fie", "WiFi": "why fie",
}

// asWords are short, written in capitals and said as words: abbreviations, and words that are only
// stressed.
var asWords = language.Set("NASA NATO RAM ROM LAN WAN GIF PIN SIM LED CAD DOS RAID SAT " +
	"A I AN AND ANY ALL ARE AS AT BE BUT BY CAN DO DID FOR GET GO HAS HE HER HIM HIS HOW IF IN IS IT ITS ME MAY MY NO NOR NOT NOW OF OFF ON ONE OR OUR OUT " +
	"SEE SHE SO THE TIP TO TOO TRY TWO UP USE WAS WAY WE WHO WHY WILL YES YET YOU")

// spelled are said letter by letter, though they could be said as words.
var spelled = language.Set("IEEE UUID USSR UEFI ASAP RSVP UTF ISBN EULA")

// symbols are the words for single runes, wherever they occur.
var symbols = map[rune]string{
	'&': "and", '=': "equals", '≠': "is not equal to", '≈': "about", '≤': "at most", '≥': "at least", '×': "times", '÷': "divided by", '±': "plus or minus",
	'∞': "infinity", '√': "the square root of", '∑': "the sum of", '∫': "the integral of", '∆': "delta", '∂': "partial", '∈': "in", '∪': "union", '∩': "intersection",
	'→': "to", '⇒': "implies", '⇔': "if and only if", '←': "from", '↔': "to and from",
	'½': "one half", '⅓': "one third", '⅔': "two thirds", '¼': "one quarter", '¾': "three quarters", '⅕': "one fifth", '⅛': "one eighth",
	'²': "squared", '³': "cubed", '°': "degrees", '%': "percent", '‰': "per thousand", '§': "section", '€': "euros", '£': "pounds", '¥': "yen", '₹': "rupees", '$': "dollar", '@': "at", '−': "minus", '℃': "degrees Celsius", '℉': "degrees Fahrenheit",
	'α': "alpha", 'β': "beta", 'γ': "gamma", 'δ': "delta", 'ε': "epsilon", 'θ': "theta", 'λ': "lambda", 'μ': "mu", 'µ': "mu", 'π': "pi", 'ρ': "rho", 'σ': "sigma", 'τ': "tau", 'φ': "phi", 'χ': "chi", 'ψ': "psi", 'ω': "omega",
	'Γ': "gamma", 'Δ': "delta", 'Θ': "theta", 'Λ': "lambda", 'Π': "pi", 'Σ': "sigma", 'Φ': "phi", 'Ψ': "psi", 'Ω': "omega",
}

// pauses are runes that make a voice take a breath.
var pauses = map[rune]byte{
	'.': '.', '!': '!', '?': '?', ',': ',', ';': ',', ':': ',', '…': ',', '(': ',', ')': ',', '|': ',', '•': ',', '—': ',', '–': ',',
	'。': '.', '！': '!', '？': '?', '，': ',', '、': ',', '；': ',', '：': ',',
}

// unfolded are letters without an accent to remove.
var unfolded = map[rune]string{
	'ß': "ss", 'ẞ': "SS", 'æ': "ae", 'Æ': "Ae", 'œ': "oe", 'Œ': "Oe", 'ø': "o", 'Ø': "O", 'đ': "d", 'Đ': "D", 'ð': "d", 'Ð': "D", 'þ': "th", 'Þ': "Th", 'ł': "l", 'Ł': "L", 'ı': "i", 'ħ': "h", 'Ħ': "H",
}
